import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The embedded CA (certificate authority), which signs with a key file of
       * the portal. `directory.certificates.authority: embedded` selects it.
       *
       * @example
       * ```yaml
       * directory:
       *   certificates:
       *     authority: embedded
       *     embedded:
       *       organization: EXAMPLE.ORG
       *       issuers:
       *         - chainFile: /var/lib/portal/ca/intermediate.pem
       *           keyFile: /var/lib/portal/ca/intermediate.key
       *           passphraseFile: /etc/portal/ca-passphrase
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
         * The first CA signs certificates, and each CA with a key signs its own
         * CRL: keep earlier CAs until their certificates have expired.
         */
        issuers: Array<{
          /**
           * Absolute path of a PEM file with the CA certificate, followed by
           * the certificates of its issuers.
           */
          chainFile: string;
          /**
           * Absolute path of the CA's private key (PEM), readable by the
           * portal's user only. The portal saves the CA's last CRL in the same
           * folder, as `<keyFile>.crl`. Default: the CA signs nothing, and its
           * certificates cannot be revoked; required for the first CA.
           */
          keyFile?: string;
          /**
           * Absolute path of the file with the passphrase of the key, readable
           * by the portal's user only. Default: the key is not encrypted.
           */
          passphraseFile?: string;
          /**
           * Absolute path of the CRL (PEM or DER) of a CA without a key, which
           * the portal publishes. Required without `keyFile`.
           */
          crlFile?: string;
        }>;
        /**
         * External URL of the gateway, without a trailing slash. Certificates
         * contain the URLs `<publicUrl>/ca/<issuer>/crl` and
         * `<publicUrl>/ca/<issuer>/certificate`. For clients that cannot verify
         * TLS, set an `http:` URL that a proxy passes to the portal. Default:
         * `<backend.baseUrl>/api/directory`.
         */
        publicUrl?: string;
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
        crl?: {
          /**
           * Validity of a certificate revocation list (CRL), 1 hour to 31 days.
           * The CA signs a new CRL after each change, and at the latest halfway
           * through the validity period.
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
        }>;
      };
    };
  };
}
