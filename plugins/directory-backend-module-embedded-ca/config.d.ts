import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The embedded CA (certificate authority), which signs with its own key.
       * `directory.certificates.authority: embedded` selects it.
       *
       * @example
       * ```yaml
       * directory:
       *   certificates:
       *     authority: embedded
       *     embedded:
       *       organization: EXAMPLE.ORG
       *       keyFile: /var/lib/portal/ca.key
       *       passphraseFile: /etc/portal/ca-passphrase
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
         * Absolute path of the private key (PEM), readable by the portal's user
         * only. Generated at first start (P-256) unless `chainFile` is set. All
         * processes that sign need the same file.
         */
        keyFile: string;
        /**
         * Absolute path of the file with the passphrase of the key, readable by
         * the portal's user only. Default: the key is not encrypted.
         */
        passphraseFile?: string;
        /**
         * Absolute path of the certificate of an existing CA, followed by its
         * issuers (PEM), whose key is in `keyFile`. Default: a self-signed root
         * is generated at first start.
         */
        chainFile?: string;
        /** Root that is generated at first start. Not allowed with `chainFile`. */
        root?: {
          /**
           * Common name of the root.
           * @default Certificate Authority
           */
          commonName?: string;
          /**
           * Validity of the root.
           * @default { years: 10 }
           */
          validity?: HumanDuration | string;
        };
        /**
         * Name of the CA in API responses.
         * @default embedded
         */
        cacn?: string;
        /** Certificate revocation list (CRL). */
        crl?: {
          /**
           * Validity of a CRL, at least 1 hour. A new CRL is signed after half
           * of it.
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
          /** Organization in subjects. Default: `organization` of the CA. */
          organization?: string;
        }>;
      };
    };
  };
}
