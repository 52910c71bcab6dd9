import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * step-ca, a certificate authority (CA) in its own process.
       * `directory.certificates.authority: step-ca` selects it. `docs/step-ca.md`
       * describes how to set it up.
       *
       * @example
       * ```yaml
       * directory:
       *   certificates:
       *     authority: step-ca
       *     stepCa:
       *       url: https://ca.example.org:9000
       *       rootFile: /etc/portal/step-ca/root.pem
       *       provisionerKeyFile: /etc/portal/step-ca/provisioner.jwk
       *       profiles:
       *         - name: userCerts
       *           validity: 7 days
       *           extendedKeyUsage:
       *             - clientAuth
       * ```
       */
      stepCa?: {
        /** URL of step-ca, with one of its `dnsNames`. */
        url: string;
        /**
         * Absolute path of the PEM file with step-ca's root, read for each
         * connection. No other CA is trusted.
         */
        rootFile: string;
        /**
         * Name of the JWK provisioner.
         * @default directory-gateway
         */
        provisioner?: string;
        /**
         * Absolute path of the private key of the provisioner: a JWK of the
         * curve P-256 with its `kid`, not encrypted, read for each request.
         * Other users must not be able to read the file.
         */
        provisionerKeyFile: string;
        /**
         * Certificate profiles. The provisioner in step-ca must allow the same.
         * Default: `userCerts` with all defaults.
         */
        profiles?: Array<{
          /** Name of the profile. */
          name: string;
          /**
           * Maximum validity. step-ca does not put certificates on hold and
           * does not publish revocations: a validity of more than 7 days causes
           * a warning.
           * @default 7 days
           */
          validity?: HumanDuration | string;
          /**
           * Extended key usages: `clientAuth`, `emailProtection`,
           * `pkinitClientAuth` or `smartcardLogon`. Default: `clientAuth`.
           */
          extendedKeyUsage?: string[];
        }>;
      };
    };
  };
}
