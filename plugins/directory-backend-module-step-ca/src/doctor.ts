/**
 * Checks of step-ca for `directory-doctor`.
 *
 * @packageDocumentation
 */
import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { StepCaClient } from './StepCaClient';
import { readStepCaConfig, type StepCaConfig } from './StepCaConfig';

const BLOCK = 'directory.certificates.stepCa';

/** Shorter than that of the backend, so that the doctor finishes soon. */
const TIMEOUT_MS = 3000;

/** Remaining validity of the issuer below which the doctor warns. */
const ISSUER_WARNING_MS = 90 * 24 * 3_600_000;

/**
 * The checks of step-ca as the CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('step-ca-server', [], checkServer),
  check('step-ca-provisioner', ['step-ca-server'], checkProvisioner),
];

function check(
  id: string,
  after: readonly string[],
  run: (client: StepCaClient, config: StepCaConfig) => Promise<DoctorFinding>,
): DoctorCheck {
  return {
    id,
    after,
    async run({ config: root }) {
      const config = readStepCaConfig(root);
      return config
        ? await run(
            new StepCaClient({ ...config, requestTimeoutMs: TIMEOUT_MS }),
            config,
          )
        : finding.skip(`${BLOCK} is not configured`);
    },
  };
}

/** Connects with the root of step-ca, and checks when its issuer expires. */
async function checkServer(
  client: StepCaClient,
  { url, rootFile }: StepCaConfig,
): Promise<DoctorFinding> {
  try {
    const end = await client.connect(async connection => {
      await connection.get('/health');
      return connection.issuer?.validToDate;
    });
    return end && end.getTime() < Date.now() + ISSUER_WARNING_MS
      ? finding.warn(
          `The issuing certificate of step-ca expires on ${end.toISOString()}`,
          'on the host of step-ca: create a new intermediate below the root, set crt and key in ca.json, and restart step-ca',
        )
      : finding.ok(url);
  } catch (error) {
    return finding.fail(
      `step-ca does not respond: ${toError(error).message}`,
      `on the host of step-ca: start it, and compare its root with ${rootFile} (${BLOCK}.rootFile)`,
      `correct ${BLOCK}.url: curl --cacert ${rootFile} ${url}/health`,
    );
  }
}

/** Checks the key file and what the start of the gateway requires. */
async function checkProvisioner(
  client: StepCaClient,
  { provisioner, provisionerKeyFile }: StepCaConfig,
): Promise<DoctorFinding> {
  try {
    const problems = await client.connect(connection =>
      client.check(connection),
    );
    return problems.length === 0
      ? finding.ok(provisioner)
      : finding.fail(
          problems.join('; '),
          `correct the provisioner ${provisioner} in ca.json, and restart step-ca`,
        );
  } catch (error) {
    return finding.fail(
      toError(error).message,
      `check ${BLOCK}.provisionerKeyFile: ls -l ${provisionerKeyFile}; chmod 600 ${provisionerKeyFile}`,
    );
  }
}
