import { toError } from '@backstage/errors';
import {
  type DoctorCheck,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { parseArgs } from 'node:util';
import { directoryChecks } from './directoryChecks';
import { kerberosChecks } from './kerberosChecks';
import { loadPortal, type Portal, type PortalOptions } from './Portal';
import { portalChecks } from './portalChecks';
import { type CheckResult, formatResults, runChecks } from './runChecks';

/** Default time for all checks, in seconds. */
const CHECKS_SECONDS = '3.5';

const USAGE = `Usage: directory-doctor [--config FILE]... [--timeout SECONDS] [--json]

Checks a portal with the directory gateway: configuration, Kerberos, directory,
database, certificates and permissions.

  --config FILE      a configuration file; repeat it for several, as for the
                     backend. Default: app-config.yaml and app-config.local.yaml
  --timeout SECONDS  time for all checks; more on a busy machine. Default: ${CHECKS_SECONDS}
  --json             print the results as JSON

Exit status: 0 when no check fails, 1 when one does, 2 when an option is invalid.
`;

/** Returns all checks except that of the configuration. */
export function allChecks(portal: Portal): readonly DoctorCheck[] {
  return [
    ...portalChecks(portal),
    ...kerberosChecks(portal),
    ...directoryChecks(portal),
    ...portal.backend.packageChecks(),
  ];
}

/**
 * Checks a portal. When its configuration is invalid, the only result is that
 * of the check `configuration`.
 */
export async function diagnose(
  options: PortalOptions,
): Promise<readonly CheckResult[]> {
  const id = 'configuration';
  let portal;
  try {
    portal = await loadPortal(options);
  } catch (error) {
    const fix =
      'correct the key or the file (docs/configuration.md lists every key); a value ${NAME} is read from the environment of this command';
    return [{ id, ...finding.fail(toError(error).message, fix) }];
  }
  const { baseDn } = portal.directory.ldap;
  const results = await runChecks(allChecks(portal), portal, options);
  return [{ id, ...finding.ok(`Valid; directory ${baseDn}`) }, ...results];
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
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Knex logs errors of connections to standard output.
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    console[level] = () => {};
  }
  const { output, exitCode } = await run(process.argv.slice(2));
  const stream = exitCode === 2 ? process.stderr : process.stdout;
  stream.write(output, () => process.send?.({ exitCode }));
}

async function run(
  args: string[],
): Promise<{ readonly output: string; readonly exitCode: number }> {
  let flags;
  try {
    const { values } = parseArgs({
      args,
      options: {
        config: { type: 'string', multiple: true, default: [] },
        timeout: { type: 'string', default: CHECKS_SECONDS },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    flags = values;
    if (!(Number(flags.timeout) > 0 && Number(flags.timeout) <= 3600)) {
      throw new Error('Option --timeout takes 1 to 3600 seconds');
    }
  } catch (error) {
    return { output: `${toError(error).message}\n\n${USAGE}`, exitCode: 2 };
  }
  if (flags.help) {
    return { output: USAGE, exitCode: 0 };
  }
  const results = await diagnose({
    configFiles: flags.config,
    env: process.env,
    folder: process.cwd(),
    deadlineMs: Number(flags.timeout) * 1000,
  });
  return {
    output: flags.json
      ? `${JSON.stringify(results, undefined, 2)}\n`
      : formatResults(results),
    exitCode: results.some(({ status }) => status === 'fail') ? 1 : 0,
  };
}
