import type { StepCaConfig } from '../StepCaConfig';
import type { StepCaFiles } from './StepCaFiles';

/** The user, realm and profile of the tests. */
export const user = { username: 'alice', principal: 'alice@EXAMPLE.TEST' };
export const profile = 'userCerts';

/** The template that the package contains. */
export const TEMPLATE_FILE =
  require.resolve('../../templates/directory-gateway.tpl');

/** The provisioner in `ca.json` that `docs/step-ca.md` describes. */
export async function provisionerOf(files: StepCaFiles) {
  const { kty, crv, x, y, kid, use, alg } = await files.provisionerKey();
  return {
    type: 'JWK',
    name: 'directory-gateway',
    key: { use, kty, kid, crv, alg, x, y },
    claims: {
      maxTLSCertDuration: '168h',
      defaultTLSCertDuration: '24h',
      disableRenewal: true,
      enableSSHCA: false,
    },
    options: {
      x509: {
        templateFile: TEMPLATE_FILE,
        templateData: {
          directory: {
            realm: 'EXAMPLE.TEST',
            domains: ['example.test'],
            profiles: {
              userCerts: ['clientAuth'],
              smartcard: ['clientAuth', '1.3.6.1.4.1.311.20.2.2'],
            },
          },
        },
      },
    },
  };
}

/** The gateway's configuration for step-ca at a URL. */
export function configOf(
  { rootFile, provisionerKeyFile }: StepCaFiles,
  url: string,
): StepCaConfig {
  const validityMs = 7 * 24 * 3_600_000;
  return {
    url,
    rootFile,
    provisionerKeyFile,
    provisioner: 'directory-gateway',
    profiles: new Map([
      [profile, { validityMs, extendedKeyUsage: ['clientAuth'] }],
      [
        'smartcard',
        { validityMs, extendedKeyUsage: ['clientAuth', 'smartcardLogon'] },
      ],
    ]),
    requestTimeoutMs: 10_000,
  };
}
