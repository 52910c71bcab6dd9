import { isError } from '@backstage/errors';
import type { DoctorCheck } from '@directory-gateway/backstage-plugin-directory-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectionChecks } from './connectionChecks';
import { directoryChecks } from './directoryChecks';
import { DirectoryServers } from './DirectoryServers';
import { kerberosChecks } from './kerberosChecks';
import { Portal, type PortalOptions } from './Portal';
import { configurationCheck, portalChecks } from './portalChecks';
import { type CheckResult, formatResults, runChecks } from './runChecks';

/** Default time for all checks, in milliseconds. */
const CHECKS_MS = 3500;

/** Share of that time for the response of one server, before later checks. */
const RESPONSE_SHARE = 0.7;

/** Time for the connections to close. */
const CLOSE_MS = 200;

const USAGE = `Usage: directory-doctor [--config FILE]... [--timeout SECONDS] [--json]

Checks a portal with the directory gateway: configuration, Kerberos, directory,
database, certificates and permissions.

  --config FILE      a configuration file; repeat it for several, as for the
                     backend. Default: app-config.yaml and app-config.local.yaml
  --timeout SECONDS  time for all checks; more on a busy machine. Default: 3.5
  --json             print the results as JSON

Exit status: 0 when no check fails, 1 when one does, 2 when an option is invalid.
`;

/** Returns the checks of the command and of the packages that the backend loads. */
export function allChecks(portal: Portal): readonly DoctorCheck[] {
  const servers = new DirectoryServers(portal);
  const dependents = [
    ...portalChecks(portal),
    ...kerberosChecks(portal),
    ...connectionChecks(portal, servers),
    ...directoryChecks(servers),
    ...portal.packageChecks(),
  ];
  return [
    configurationCheck(portal),
    ...dependents.map(check => ({
      ...check,
      after: ['configuration', ...(check.after ?? [])],
    })),
  ];
}

/**
 * Checks a portal and returns the result of each check.
 *
 * @param options - `deadlineMs`: milliseconds after which a check fails
 */
export async function diagnose({
  deadlineMs = CHECKS_MS,
  ...options
}: Omit<PortalOptions, 'responseMs'> & {
  readonly deadlineMs?: number;
}): Promise<readonly CheckResult[]> {
  const responseMs = RESPONSE_SHARE * deadlineMs;
  const portal = await Portal.load({ ...options, responseMs });
  try {
    const results = await runChecks(allChecks(portal), portal, { deadlineMs });
    const printable = (text: string) => toPrintable(portal.redact(text));
    return results.map(({ id, status, message, fix }) => ({
      id,
      status,
      message: printable(message),
      ...(fix && { fix: fix.map(printable) }),
    }));
  } finally {
    // Does not wait for connections that are being opened.
    await Promise.race([portal.close(), sleep(CLOSE_MS)]);
  }
}

/**
 * Replaces characters that a terminal or a shell interprets, or that hide text:
 * messages quote configurations and servers.
 */
function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/**
 * Runs the command, in a child process of `bin/directory-doctor`.
 *
 * @public
 */
export async function main(): Promise<void> {
  // Backstage's database service does not handle all of its rejections. The
  // check of the database reports the error.
  process.on('unhandledRejection', () => {});
  process.on('uncaughtException', error => {
    const output = `directory-doctor failed: ${toPrintable(error.name)}\n`;
    process.stderr.write(output, () => process.send?.({ exitCode: 1 }));
  });
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Knex logs errors of connections to standard output.
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    console[level] = () => {};
  }
  const { output, exitCode } = await run(process.argv.slice(2)).catch(
    error => ({
      output: `directory-doctor failed: ${toPrintable(
        isError(error) ? error.name : 'unknown error',
      )}\n`,
      exitCode: 2,
    }),
  );
  const stream = exitCode === 2 ? process.stderr : process.stdout;
  stream.write(output, () => process.send?.({ exitCode }));
}

async function run(
  args: readonly string[],
): Promise<{ readonly output: string; readonly exitCode: number }> {
  let flags;
  let deadlineMs;
  try {
    flags = parseArgs({
      args: [...args],
      options: {
        config: { type: 'string', multiple: true, default: [] },
        timeout: { type: 'string', default: String(CHECKS_MS / 1000) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
    deadlineMs = readSeconds(flags.timeout);
  } catch (error) {
    return { output: `${(error as Error).message}\n\n${USAGE}`, exitCode: 2 };
  }
  if (flags.help) {
    return { output: USAGE, exitCode: 0 };
  }
  const results = await diagnose({
    configFiles: flags.config,
    env: process.env,
    folder: process.cwd(),
    deadlineMs,
  });
  return {
    output: flags.json
      ? `${JSON.stringify(results, undefined, 2)}\n`
      : formatResults(results),
    exitCode: results.some(({ status }) => status === 'fail') ? 1 : 0,
  };
}

/** Reads a positive number of seconds of at most an hour, as milliseconds. */
function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 3600)) {
    throw new Error(
      'Option --timeout takes a positive number of seconds, at most 3600',
    );
  }
  return seconds * 1000;
}
