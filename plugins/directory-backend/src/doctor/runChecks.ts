import { isError, toError } from '@backstage/errors';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { setTimeout as sleep } from 'node:timers/promises';

/** The finding of a check. */
export interface CheckResult extends DoctorFinding {
  readonly id: string;
}

interface Outcome {
  readonly result: CheckResult;
  /** The check that failed: this one, or one that it depends on. */
  readonly failedId?: string;
}

/**
 * Runs checks concurrently. A check waits for earlier ones that it depends on,
 * and is skipped when one of them failed.
 *
 * @param options - `deadlineMs`: milliseconds after which a check fails
 * @returns a result of each check, in their order
 */
export async function runChecks(
  checks: readonly DoctorCheck[],
  context: DoctorContext,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<readonly CheckResult[]> {
  const expired = sleep(
    deadlineMs,
    finding.fail(
      `No result within ${(deadlineMs / 1000).toFixed(1)} seconds`,
      'check that this machine reaches the servers and the DNS servers that the configuration names; if they are slow: --timeout 30',
    ),
    { ref: false },
  );
  const outcomes = new Map<string, Promise<Outcome>>();
  const decide = async (check: DoctorCheck): Promise<Outcome> => {
    const { id, after = [] } = check;
    const before = await Promise.all(after.map(each => outcomes.get(each)));
    const failedId = before.find(each => each?.failedId)?.failedId;
    const { status, message, fix } = failedId
      ? finding.skip(`${failedId} failed`)
      : await Promise.race([runOne(check, context), expired]);
    const texts = {
      message: toPrintable(message),
      fix: fix && toPrintable(fix),
    };
    return {
      result: { id, status, ...texts },
      failedId: status === 'fail' ? id : failedId,
    };
  };
  for (const check of checks) {
    outcomes.set(check.id, decide(check));
  }
  return (await Promise.all(outcomes.values())).map(({ result }) => result);
}

async function runOne(
  check: DoctorCheck,
  context: DoctorContext,
): Promise<DoctorFinding> {
  try {
    return await check.run(context);
  } catch (error) {
    return finding.fail(
      toError(error).message,
      'correct what the message names; docs/troubleshooting.md explains messages, and --timeout 30 gives slow servers more time',
    );
  }
}

/**
 * Replaces characters that a terminal or a shell interprets, or that hide text:
 * messages quote configurations and servers.
 */
function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Formats results as one line each, with indented fixes, and a summary. */
export function formatResults(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ id }) => id.length));
  const lines = results.flatMap(({ id, status, message, fix }) => [
    `${status.padEnd(4).replace('fail', 'FAIL')}  ${id.padEnd(width)}  ${message}`,
    ...(fix ? [`      fix: ${fix}`] : []),
  ]);
  const counts = (['ok', 'warn', 'fail', 'skip'] as const).map(
    status =>
      `${results.filter(each => each.status === status).length} ${status}`,
  );
  return `${[...lines, '', counts.join(', ')].join('\n')}\n`;
}

/** Returns the code of an error of Node.js, SQLite or PostgreSQL. */
export function codeOf(error: unknown): string {
  const code = isError(error) ? String(error.code ?? error.name) : '';
  return /^\w{4,40}$/.test(code) ? code : 'unknown error';
}
