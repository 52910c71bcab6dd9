import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '@directory-gateway/directory-core';
import { withDeadline } from '@directory-gateway/ldap';

/** The finding of a check. */
export interface CheckResult extends DoctorFinding {
  readonly id: string;
}

interface Outcome {
  readonly result: CheckResult;
  /** The check that failed: this one, or one that it depends on. */
  readonly failedId?: string;
}

/** Fix for an invalid key, which the message names. */
export const CONFIGURATION_FIX =
  'correct the key in app-config.yaml or in the file given by --config (docs/configuration.md lists every key); a value ${NAME} is read from the environment of this command';

class DeadlineError extends Error {}

function isUnavailable(error: unknown): boolean {
  return (
    error instanceof DirectoryUnavailableError ||
    error instanceof DirectoryTimeoutError
  );
}

interface RunOptions {
  readonly checks: readonly DoctorCheck[];
  readonly context: DoctorContext;
  readonly deadlineMs: number;
}

/** A run of checks, each of which runs once. */
class Run {
  readonly #options: RunOptions;
  readonly #endsAt: number;
  readonly #outcomes = new Map<DoctorCheck, Promise<Outcome>>();

  constructor(options: RunOptions) {
    this.#options = options;
    this.#endsAt = performance.now() + options.deadlineMs;
  }

  /** Returns the result of a check, after those that it depends on. */
  outcomeOf(check: DoctorCheck): Promise<Outcome> {
    let outcome = this.#outcomes.get(check);
    if (!outcome) {
      outcome = this.#decide(check);
      this.#outcomes.set(check, outcome);
    }
    return outcome;
  }

  async #decide(check: DoctorCheck): Promise<Outcome> {
    const { id, after = [] } = check;
    const before = await Promise.all(
      this.#options.checks
        .filter(other => after.includes(other.id))
        .map(other => this.outcomeOf(other)),
    );
    const failedId = before.find(outcome => outcome.failedId)?.failedId;
    if (failedId !== undefined) {
      const skipped = finding.skip(`${failedId} failed`);
      return { result: { id, ...skipped }, failedId };
    }
    const result = { id, ...(await this.#run(check)) };
    return result.status === 'fail' ? { result, failedId: id } : { result };
  }

  async #run(check: DoctorCheck): Promise<DoctorFinding> {
    const { context, deadlineMs } = this.#options;
    try {
      return await withDeadline(check.run(context), {
        ms: Math.max(0, this.#endsAt - performance.now()),
        error: () =>
          new DeadlineError(
            `No result within ${(deadlineMs / 1000).toFixed(1)} seconds`,
          ),
      });
    } catch (error) {
      return finding.fail(
        firstLine(toError(error).message),
        error instanceof DeadlineError || isUnavailable(error)
          ? 'check that this machine reaches the servers and the DNS servers that the configuration names; if they are slow: --timeout 30'
          : CONFIGURATION_FIX,
      );
    }
  }
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
  options: { readonly deadlineMs: number },
): Promise<readonly CheckResult[]> {
  const run = new Run({ checks, context, ...options });
  return await Promise.all(
    checks.map(async check => (await run.outcomeOf(check)).result),
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
    ...(fix ?? []).map(line => `      fix: ${line}`),
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
