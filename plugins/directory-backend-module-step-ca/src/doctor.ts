/**
 * The check of step-ca for `directory-doctor`.
 *
 * @packageDocumentation
 */
import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { StepCaClient } from './StepCaClient';
import { BLOCK, readStepCaConfig } from './StepCaConfig';

/** Remaining validity of the issuer below which the doctor warns. */
const ISSUER_WARNING_MS = 90 * 24 * 3_600_000;

/**
 * The check of step-ca as the CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  { id: 'step-ca', run: check },
];

/** Checks the files, the provisioner and when the issuer expires. */
async function check({
  config: root,
  responseMs,
}: DoctorContext): Promise<DoctorFinding> {
  const config = readStepCaConfig(root);
  if (!config) {
    return finding.skip(`${BLOCK} is not configured`);
  }
  const { url, provisioner } = config;
  const client = new StepCaClient({ ...config, requestTimeoutMs: responseMs });
  try {
    const { problem, end } = await client.connect(async connection => ({
      problem: await client.check(connection),
      end: connection.getIssuer()?.validToDate,
    }));
    if (problem !== undefined) {
      return finding.fail(
        problem,
        `correct the provisioner ${provisioner} in ca.json, and restart step-ca`,
      );
    }
    return end && end.getTime() < Date.now() + ISSUER_WARNING_MS
      ? finding.warn(
          `The issuing certificate of step-ca expires on ${end.toISOString()}`,
          'create a new intermediate below the root, set crt and key in ca.json, and restart step-ca',
        )
      : finding.ok(url);
  } catch (error) {
    return finding.fail(
      `step-ca cannot be checked: ${toError(error).message}`,
      `start step-ca, or correct url, rootFile or provisionerKeyFile (mode 600) in ${BLOCK}`,
    );
  }
}
