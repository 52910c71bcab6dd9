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
         * CAs whose keys are in files that only the portal's user can read. The
         * first one signs certificates, and each one signs its own CRL: keep
         * earlier CAs until their certificates have expired. Required without
         * `socket`.
         */
        issuers?: Array<{
          /**
           * Absolute path of a PEM file with the CA certificate, followed by
           * the certificates of its issuers.
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
         * External URL of the gateway, without a trailing slash. Certificates
         * contain the URLs `<publicUrl>/ca/<issuer>/crl` and
         * `<publicUrl>/ca/<issuer>/certificate`. For clients that cannot verify
         * TLS, set an `http:` URL that a proxy passes to the portal. Not
         * allowed with `socket`. Default: `<backend.baseUrl>/api/directory`.
         */
        publicUrl?: string;
        /**
         * Rate limit for issuing certificates. Certificates in the issuance log
         * are counted, so that a restart does not reset the rate. Signing
         * requests above the limit get 503. Not allowed with `socket`.
         */
        limit?: {
          /**
           * Number of certificates.
           * @default 1000
           */
          certificates?: number;
          /**
           * Period in which certificates are counted.
           * @default 1 minute
           */
          per?: HumanDuration | string;
        };
        /**
         * Absolute path of the Unix socket of `directory-ca serve`, which holds
         * the keys and the issuance log. Not allowed with `issuers`.
         */
        socket?: string;
        /**
         * Root CAs. The portal publishes their certificates and CRLs at the
         * URLs in the intermediates' certificates. Default: none.
         */
        roots?: Array<{
          /** Absolute path of the root's certificate (PEM or DER). */
          certificateFile: string;
          /**
           * Absolute path of the root's CRL (PEM or DER). The file can be
           * replaced without a restart. Default: the portal does not publish a
           * CRL of the root.
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
           * Validity of a CRL, at least 1 hour and at most 31 days minus 10
           * minutes. The CA signs a new CRL after each change, and at the latest
           * halfway through the validity period.
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
           * `smartcardLogon` and OIDs, except those reserved for CAs and KDCs.
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
