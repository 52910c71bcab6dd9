import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The certificate authority (CA) `embedded`, which signs with its own key.
       * `directory.certificates.authority: embedded` selects it.
       */
      embedded?: {
        /** Organization in subjects, for example the realm `EXAMPLE.ORG`. */
        organization: string;
        /**
         * Absolute path of the private key (PEM), readable by the portal's user
         * only. Generated at first start (P-256) unless `chainFile` is set. Each
         * instance that signs needs the same key. It is never in the database.
         */
        keyFile: string;
        /**
         * Absolute path of the file with the passphrase of the key, readable by
         * the portal's user only. Default: the key is not encrypted.
         */
        passphraseFile?: string;
        /**
         * Absolute path of the certificate of an existing CA and its issuers
         * (PEM, in this order), with its key in `keyFile`. Default: a
         * self-signed root is generated at first start.
         */
        chainFile?: string;
        /** The root that is generated at first start. */
        root?: {
          /** Common name. Default: Certificate Authority. */
          commonName?: string;
          /** Validity of the root. Default: 10 years. */
          validity?: HumanDuration | string;
        };
        /** Name of the CA in API responses. Default: embedded. */
        cacn?: string;
        crl?: {
          /**
           * Validity of a certificate revocation list (CRL), at least an hour.
           * A new one is signed after half of it. Default: 7 days.
           */
          validity?: HumanDuration | string;
        };
        /** Certificate profiles. Default: `userCerts` with all defaults. */
        profiles?: Array<{
          /** Name of the profile. */
          name: string;
          /** Validity, limited by that of the CA. Default: 30 days. */
          validity?: HumanDuration | string;
          /**
           * List of digitalSignature, nonRepudiation, keyEncipherment,
           * dataEncipherment, keyAgreement. Default: digitalSignature.
           */
          keyUsage?: string[];
          /**
           * List of serverAuth, clientAuth, codeSigning, emailProtection,
           * pkinitClientAuth, smartcardLogon and OIDs. Purposes of a CA or KDC,
           * such as OCSPSigning or anyExtendedKeyUsage, are rejected. Default:
           * clientAuth.
           */
          extendedKeyUsage?: string[];
          /** Organization in subjects. Default: that of the CA. */
          organization?: string;
        }>;
      };
    };
  };
}
