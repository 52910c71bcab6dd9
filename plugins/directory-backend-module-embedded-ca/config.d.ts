import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The gateway's own certificate authority. Without this block it is not
       * there; `directory.certificates.authority: embedded` lets it issue.
       */
      embedded?: {
        /** Organization in the subjects, for example the realm `EXAMPLE.ORG`. */
        organization: string;
        /**
         * Absolute path of the private key (PEM), readable by the portal's user
         * only. Made at first start (P-256) unless `chainFile` is set. Every
         * node that shall sign needs the same key. It is never in the database.
         */
        keyFile: string;
        /**
         * Absolute path of the file with the passphrase of the key, readable by
         * the portal's user only. Default: the key is not encrypted.
         */
        passphraseFile?: string;
        /**
         * Absolute path of an existing authority's certificate and those above
         * it (PEM, in this order), with its key in `keyFile`. Default: a
         * self-signed root is made at first start.
         */
        chainFile?: string;
        /** The root that is made at first start. */
        root?: {
          /** Its common name. Default: Certificate Authority. */
          commonName?: string;
          /** Default: 10 years. */
          validity?: HumanDuration | string;
        };
        /** The authority's name in answers. Default: embedded. */
        cacn?: string;
        crl?: {
          /**
           * How long a revocation list holds, an hour or more. It is renewed
           * after half of it. Default: 7 days.
           */
          validity?: HumanDuration | string;
        };
        /** Default: `userCerts` with every default. */
        profiles?: Array<{
          /** The name by which it is asked for. */
          name: string;
          /** Default: 30 days. Never beyond the authority's own end. */
          validity?: HumanDuration | string;
          /**
           * Some of digitalSignature, nonRepudiation, keyEncipherment,
           * dataEncipherment, keyAgreement. Default: digitalSignature.
           */
          keyUsage?: string[];
          /**
           * Some of serverAuth, clientAuth, codeSigning, emailProtection,
           * pkinitClientAuth, smartcardLogon, or OIDs. Purposes of a CA or KDC,
           * such as OCSPSigning or anyExtendedKeyUsage, are refused. Default:
           * clientAuth.
           */
          extendedKeyUsage?: string[];
          /** In place of the authority's. */
          organization?: string;
        }>;
      };
    };
  };
}
