import { Command, InvalidArgumentError, Option } from 'commander';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Realm } from './Realm';
import { startRealm } from './startRealm';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type EndingSignal = (typeof SIGNALS)[number];

/**
 * A terminal sends Ctrl-C to the command as well. A second signal would abort
 * the command's shutdown, so it is sent only after this time.
 */
const INTERRUPT_DELAY_MS = 5_000;

/** Exit status that a shell returns for a command that cannot be run. */
const CANNOT_RUN = 127;

interface Flags {
  users?: number;
  ldif?: string;
  schema?: 'fas' | 'freeipa';
  envFile?: string;
}

/** The first signal, which also aborts the start of a realm. */
const ending = new AbortController();

const program = new Command('realm').description(
  'A Kerberos realm and a directory with users on the loopback interface',
);

withRealmOptions(program.command('serve'))
  .description('start a realm, print its environment, and run until a signal')
  .option('--env-file <path>', 'also write the environment to this file')
  .action((flags: Flags) => exitWith(serve(flags)));

withRealmOptions(program.command('run'))
  .description('run a command in the environment of a realm')
  .usage('[options] -- <command...>')
  .argument('<command...>')
  .action((command: string[], flags: Flags) =>
    exitWith(runCommand(command, flags)),
  );

for (const signal of SIGNALS) {
  process.on(signal, () => ending.abort(signal));
}
program.parse();

function withRealmOptions(command: Command): Command {
  return command
    .option('--users <number>', 'number of generated users', parseUsers)
    .option('--ldif <path>', 'LDIF file that replaces the generated entries')
    .addOption(
      new Option(
        '--schema <name>',
        'freeipa: no Fedora Account System',
      ).choices(['fas', 'freeipa']),
    );
}

function parseUsers(text: string): number {
  if (!/^\d{1,7}$/.test(text)) {
    throw new InvalidArgumentError('Not an integer.');
  }
  return Number(text);
}

/** Starts a realm with a directory server that is as fast as FreeIPA's. */
function start({ users, ldif, schema }: Flags): Promise<Realm> {
  return startRealm({
    users,
    ldif,
    schema,
    demo: true,
    accessLog: 'buffered',
    signal: ending.signal,
  });
}

/** Exits with a status, or 1 and a line on standard error. */
async function exitWith(status: Promise<number>): Promise<void> {
  try {
    process.exitCode = await status;
  } catch (error) {
    log(error);
    process.exitCode = 1;
  }
}

/** Runs a realm until a signal, with status 0, or until it ends. */
async function serve(flags: Flags): Promise<number> {
  const { envFile } = flags;
  try {
    const realm = await start(flags);
    try {
      const text = environmentText(realm);
      if (envFile) {
        await writeFile(`${envFile}.new`, text, { mode: 0o600 });
        await rename(`${envFile}.new`, envFile);
      }
      process.stdout.write(text);
      await Promise.race([realm.ended(), aborted()]);
    } finally {
      await realm.stop();
      if (envFile) {
        await rm(envFile, { force: true });
      }
    }
  } catch (error) {
    if (!ending.signal.aborted) {
      throw error;
    }
  }
  return ending.signal.aborted ? 0 : 1;
}

async function aborted(): Promise<void> {
  if (!ending.signal.aborted) {
    await once(ending.signal, 'abort');
  }
}

/** Formats the environment of a realm for a shell. */
function environmentText({ realm, dir, env }: Realm): string {
  const exports = Object.entries(env).map(
    ([key, value]) => `export ${key}='${value.replaceAll("'", `'\\''`)}'`,
  );
  return `# Kerberos realm ${realm} and its directory, in ${dir}
# kinit -k -t "$KEYTAB" alice     # or bob (private), carol (locked), admin,
#                                 # bot/builder.example.test, host/build1.example.test
# ldapsearch -N -Y GSSAPI -H "\${REALM_LDAP_URL/127.0.0.1/localhost}" -b "$REALM_BASE_DN" uid=alice
${exports.join('\n')}
`;
}

/**
 * Runs a command, and a realm for as long as the command runs.
 *
 * @returns the exit status of the command, or 128 plus the number of a signal
 */
async function runCommand(
  [command, ...args]: readonly string[],
  flags: Flags,
): Promise<number> {
  let realm: Realm;
  try {
    realm = await start(flags);
  } catch (error) {
    if (ending.signal.aborted) {
      return statusAfter(ending.signal.reason);
    }
    throw error;
  }
  try {
    const env = { ...process.env, ...realm.env };
    const child = spawn(command, args, { stdio: 'inherit', env });
    for (const signal of SIGNALS) {
      process.on(signal, () => passOn(signal, child));
    }
    const [code, signal] = await once(child, 'exit');
    return code ?? statusAfter(signal);
  } catch (error) {
    log(error);
    return CANNOT_RUN;
  } finally {
    await realm.stop();
  }
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function passOn(signal: EndingSignal, child: ChildProcess): void {
  const isInTerminal = signal === 'SIGINT' && process.stdin.isTTY;
  const timer = setTimeout(
    () => child.kill(signal),
    isInTerminal ? INTERRUPT_DELAY_MS : 0,
  );
  child.once('exit', () => clearTimeout(timer));
}

function log(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`realm: ${message}\n`);
}
