import { Command, InvalidArgumentError } from 'commander';
import type { RealmOptions } from './RealmOptions';
import type { Realm } from './Realm';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { startRealm } from './startRealm';
import { rename, rm, writeFile } from 'node:fs/promises';

const SIGNALS: readonly EndingSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * A terminal sends its Ctrl-C to the command as well. A second one would tell
 * many programs to hurry, so it follows only when the command goes on.
 */
const PATIENCE_MS = 5_000;

/** What a shell answers when a command cannot be run. */
const CANNOT_RUN = 127;

interface Flags {
  users?: number;
  ldif?: string;
  schema?: 'fas' | 'freeipa';
  envFile?: string;
}

const program = new Command('realm').description(
  'A Kerberos realm and a directory full of people, on loopback',
);

withRealmOptions(program.command('serve'))
  .description(
    'start a realm, print an environment to source, run until a signal',
  )
  .option(
    '--env-file <path>',
    'also write the environment to this file, once ready',
  )
  .action(({ envFile, ...flags }: Flags) =>
    finish(serve({ ...realmOptions(flags), envFile })),
  );

withRealmOptions(program.command('run'))
  .description('run a command in the environment of a realm that lives as long')
  .usage('[options] -- <command...>')
  .argument('<command...>')
  .action((command: string[], flags: Flags) =>
    finish(runCommand(command, realmOptions(flags))),
  );

program.parse();

function withRealmOptions(command: Command): Command {
  return command
    .option('--users <number>', 'how many people to generate', wholeNumber)
    .option('--ldif <path>', "fill it with this file's entries instead")
    .option(
      '--schema <name>',
      'fas or freeipa (no Fedora Account System)',
      schemaName,
    );
}

function realmOptions({ users, ldif, schema }: Flags): RealmOptions {
  // People and measurements come here: the directory is as fast as FreeIPA's.
  return { users, ldif, schema, accessLog: 'buffered' };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) {
    throw new InvalidArgumentError('Not a whole number.');
  }
  return Number(text);
}

function schemaName(text: string): 'fas' | 'freeipa' {
  if (text !== 'fas' && text !== 'freeipa') {
    throw new InvalidArgumentError('Known are fas and freeipa.');
  }
  return text;
}

/** Exits with the status; a failure is one line. */
async function finish(work: Promise<number>): Promise<void> {
  try {
    process.exitCode = await work;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`realm: ${reason}\n`);
    process.exitCode = 1;
  }
}

/** A realm's environment as a shell reads it, with what to try first. */
function environmentText(realm: Realm): string {
  const { realm: name, dir, env } = realm;
  const exports = Object.entries(env).map(
    ([key, value]) => `export ${key}='${value.replaceAll("'", `'\\''`)}'`,
  );
  return `# Kerberos realm ${name} and its directory, in ${dir}
# kinit -k -t "$KEYTAB" alice     # or bob (private), carol (locked), admin,
#                                 # bot/builder.example.test, host/build1.example.test
# ldapsearch -N -Y GSSAPI -H "\${REALM_LDAP_URL/127.0.0.1/localhost}" -b "$REALM_BASE_DN" uid=alice
${exports.join('\n')}
`;
}

/** What ends a program from outside. */
type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Calls back on every signal that would otherwise end this process. */
function onEndingSignal(callback: (signal: EndingSignal) => void): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => callback(signal));
  }
}

/**
 * Runs a command in a realm's environment, and the realm as long as the
 * command.
 *
 * @returns the command's exit status; 128 and the number of a signal that
 * ended it
 */
async function runCommand(
  [command, ...args]: readonly string[],
  options: RealmOptions,
): Promise<number> {
  const ending = new AbortController();
  let child: ChildProcess | undefined;
  onEndingSignal(signal => {
    ending.abort(signal);
    passOn(signal, child);
  });
  let realm: Realm;
  try {
    realm = await startRealm({ ...options, signal: ending.signal });
  } catch (error) {
    if (ending.signal.aborted) {
      return statusAfter(ending.signal.reason);
    }
    throw error;
  }
  try {
    const env = { ...process.env, ...realm.env };
    child = spawn(command, args, { stdio: 'inherit', env });
    return await statusOf(child);
  } finally {
    await realm.stop();
  }
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function passOn(signal: EndingSignal, child: ChildProcess | undefined): void {
  const patience = signal === 'SIGINT' && process.stdin.isTTY ? PATIENCE_MS : 0;
  const timer = setTimeout(() => child?.kill(signal), patience);
  child?.once('exit', () => clearTimeout(timer));
}

async function statusOf(child: ChildProcess): Promise<number> {
  try {
    const [code, signal] = await once(child, 'exit');
    return code ?? statusAfter(signal);
  } catch (error) {
    process.stderr.write(
      `realm: ${error instanceof Error ? error.message : error}\n`,
    );
    return CANNOT_RUN;
  }
}

interface ServeOptions extends RealmOptions {
  /** Where to write the environment, in one step and once the realm is ready. */
  envFile?: string;
}

/**
 * Runs a realm in the foreground until a signal, or until it ends by itself.
 *
 * @returns the exit status: 0 after a signal, also one while starting
 */
async function serve({ envFile, ...options }: ServeOptions): Promise<number> {
  const ending = new AbortController();
  onEndingSignal(() => ending.abort());
  let realm: Realm;
  try {
    realm = await startRealm({ ...options, signal: ending.signal });
  } catch (error) {
    if (ending.signal.aborted) {
      return 0;
    }
    throw error;
  }
  try {
    const text = environmentText(realm);
    if (envFile) {
      await writeFile(`${envFile}.new`, text, { mode: 0o600 });
      await rename(`${envFile}.new`, envFile);
    }
    process.stdout.write(text);
    await Promise.race([realm.ended(), aborted(ending.signal)]);
  } finally {
    await realm.stop();
    if (envFile) {
      await rm(envFile, { force: true });
    }
  }
  return ending.signal.aborted ? 0 : 1;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise(resolve => {
      signal.addEventListener('abort', resolve, { once: true });
    });
  }
}
