import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The embedded CA (certificate authority), which signs with its own keys.
       * `directory.certificates.authority: embedded` selects it.
       *
       * @example
       * ```yaml
       * directory:
       *   certificates:
       *     authority: embedded
       *     embedded:
       *       organization: EXAMPLE.ORG
       *       issuers:
       *         - chainFile: /etc/portal/ca/intermediate.pem
       *           keyFile: /etc/portal/ca/intermediate.key
       *           passphraseFile: /etc/portal/ca-passphrase
       *       logFolder: /var/lib/portal/ca-log
       *       profiles:
       *         - name: userCerts
       *           validity: 90 days
       *           extendedKeyUsage: [clientAuth, emailProtection]
       * ```
       */
      embedded?: {
        /** Organization in subjects, for example the realm `EXAMPLE.ORG`. */
        organization: string;
        /**
         * CAs whose keys are in files of the portal's user. The first one signs
         * certificates, and all sign their own CRL: keep an earlier one until
         * its certificates have expired. Required without `socket`.
         */
        issuers?: Array<{
          /**
           * Absolute path of the CA's certificate, followed by those of its
           * issuers (PEM).
           */
          chainFile: string;
          /**
           * Absolute path of the CA's private key (PEM), readable by the
           * portal's user only.
           */
          keyFile: string;
          /**
           * Absolute path of the file with the passphrase of the key, readable
           * by the portal's user only. Default: the key is not encrypted.
           */
          passphraseFile?: string;
        }>;
        /**
         * Absolute path of the folder of the issuance log, accessible to the
         * portal's user only. Required with `issuers`.
         */
        logFolder?: string;
        /**
         * URL below which clients read `/ca/<issuer>/crl` and
         * `/ca/<issuer>/certificate`: certificates contain it. Clients that
         * cannot verify TLS need one with `http:`, which a proxy passes to the
         * portal. Not allowed with `socket`. Default:
         * `<backend.baseUrl>/api/directory`.
         */
        publicUrl?: string;
        /**
         * Maximum rate of certificates. It limits what an attacker who controls
         * the gateway can obtain, and counts the certificates in the issuance
         * log. Not allowed with `socket`.
         */
        limit?: {
          /**
           * Number of certificates.
           * @default 1000
           */
          certificates?: number;
          /**
           * Time in which they are counted.
           * @default 1 minute
           */
          per?: HumanDuration | string;
        };
        /**
         * Absolute path of the Unix socket of `directory-ca serve`, which has
         * the keys and the issuance log. Not allowed with `issuers`.
         */
        socket?: string;
        /**
         * Root CAs whose certificate and CRL are published at the addresses that
         * the certificates below them contain. Default: none.
         */
        roots?: Array<{
          /** Absolute path of the root's certificate (PEM or DER). */
          certificateFile: string;
          /**
           * Absolute path of the root's CRL (PEM or DER). The file may be
           * replaced while the portal runs. Default: none is published.
           */
          crlFile?: string;
        }>;
        /**
         * Name of the CA in API responses.
         * @default embedded
         */
        cacn?: string;
        /** Certificate revocation list (CRL). */
        crl?: {
          /**
           * Validity of a CRL, at least 1 hour and less than 31 days. A new
           * CRL is signed after half of it.
           * @default 7 days
           */
          validity?: HumanDuration | string;
        };
        /** Certificate profiles. Default: `userCerts` with all defaults. */
        profiles?: Array<{
          /** Name of the profile. */
          name: string;
          /**
           * Validity of certificates, limited by that of the CA.
           * @default 30 days
           */
          validity?: HumanDuration | string;
          /**
           * Key usage extension.
           * @default ["digitalSignature"]
           */
          keyUsage?: Array<
            | 'digitalSignature'
            | 'nonRepudiation'
            | 'keyEncipherment'
            | 'dataEncipherment'
            | 'keyAgreement'
          >;
          /**
           * Extended key usage extension: `serverAuth`, `clientAuth`,
           * `codeSigning`, `emailProtection`, `pkinitClientAuth`,
           * `smartcardLogon` and OIDs, except those reserved to CAs and KDCs.
           * @default ["clientAuth"]
           */
          extendedKeyUsage?: string[];
          /**
           * OIDs of the certificate policies extension. Default: no policies.
           */
          policies?: string[];
          /** Organization in subjects. Default: `organization` of the CA. */
          organization?: string;
        }>;
      };
    };
  };
}
