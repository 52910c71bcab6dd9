import { isError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { withDeadline } from '../ldap/connection/ldapClient';

/** The finding of a check. */
export interface CheckResult extends DoctorFinding {
  readonly id: string;
}

interface Outcome {
  readonly result: CheckResult;
  /** The check that failed, if this one or one that it depends on has. */
  readonly failedId?: string;
}

/**
 * Runs checks concurrently. A check waits for those that it depends on, and is
 * skipped when one of them failed.
 *
 * @param options - `deadlineMs`: milliseconds after which a check fails
 * @returns a result of each check, in their order
 */
export async function runChecks(
  checks: readonly DoctorCheck[],
  context: DoctorContext,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<readonly CheckResult[]> {
  const outcomes = new Map<string, Promise<Outcome>>();
  const outcomeOf = (check: DoctorCheck): Promise<Outcome> => {
    const outcome = outcomes.get(check.id) ?? run(check);
    outcomes.set(check.id, outcome);
    return outcome;
  };
  const run = async (check: DoctorCheck): Promise<Outcome> => {
    const { id, after = [] } = check;
    // Not before its promise is in the map.
    await undefined;
    const before = await Promise.all(
      checks.filter(other => after.includes(other.id)).map(outcomeOf),
    );
    const failedId = before.find(({ failedId: failed }) => failed)?.failedId;
    if (failedId !== undefined) {
      return {
        result: { id, ...finding.skip(`${failedId} failed`) },
        failedId,
      };
    }
    const result = { id, ...(await runOne(check)) };
    return result.status === 'fail' ? { result, failedId: id } : { result };
  };
  const end = performance.now() + deadlineMs;
  const runOne = (check: DoctorCheck): Promise<DoctorFinding> =>
    withDeadline(check.run(context), {
      ms: Math.max(0, end - performance.now()),
      error: () => new Error(`No result within ${deadlineMs / 1000} seconds`),
    }).catch(error =>
      finding.fail(
        firstLine(isError(error) ? error.message : String(error)),
        'check that this machine reaches the servers and the DNS servers that the configuration names',
      ),
    );
  return Promise.all(
    checks.map(async check => (await outcomeOf(check)).result),
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}

/** Formats results as one line each, with indented fixes, and a summary. */
export function formatResults(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ id }) => id.length));
  const lines = results.flatMap(({ id, status, message, fix }) => [
    `${(status === 'fail' ? 'FAIL' : status).padEnd(4)}  ${id.padEnd(
      width,
    )}  ${message}`,
    ...(fix ?? '')
      .split('\n')
      .filter(Boolean)
      .map(line => `      fix: ${line}`),
  ]);
  const count = (status: CheckResult['status'], noun = '') => {
    const { length } = results.filter(result => result.status === status);
    return `${length} ${noun || status}${noun && length !== 1 ? 's' : ''}`;
  };
  const summary = [
    count('ok'),
    count('warn', 'warning'),
    count('fail', 'failure'),
    `${count('skip')}ped`,
  ].join(', ');
  return `${[...lines, '', summary].join('\n')}\n`;
}
