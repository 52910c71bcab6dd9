import { Command, InvalidArgumentError, Option } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Realm } from './Realm';
import { startRealm } from './startRealm';

/** Exit status that a shell returns for a command that cannot be run. */
const CANNOT_RUN = 127;

interface Flags {
  users?: number;
  ldif?: string;
  schema?: 'fas' | 'freeipa';
  envFile?: string;
}

/** Called when the process receives a signal. The default ends the start. */
let onSignal = (signal: NodeJS.Signals): void =>
  process.exit(statusAfter(signal));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => onSignal(signal));
}

const program = new Command('realm').description(
  'A Kerberos realm and a directory with users on the loopback interface',
);

withRealmOptions(program.command('serve'))
  .description('start a realm, print its environment, and run until a signal')
  .option('--env-file <path>', 'also write the environment to this file')
  .action(serve);

withRealmOptions(program.command('run'))
  .description('run a command in the environment of a realm')
  .usage('[options] -- <command...>')
  .argument('<command...>')
  .action(runCommand);

program.parseAsync().catch(error => {
  process.stderr.write(`realm: ${error.message}\n`);
  process.exitCode = 1;
});

function withRealmOptions(command: Command): Command {
  const schema = new Option('--schema <name>', 'freeipa: no FAS');
  return command
    .option('--users <number>', 'number of users', parseUsers)
    .option('--ldif <path>', 'LDIF file that replaces the generated entries')
    .addOption(schema.choices(['fas', 'freeipa']));
}

function parseUsers(text: string): number {
  if (!/^\d{1,7}$/.test(text)) {
    throw new InvalidArgumentError('Not an integer.');
  }
  return Number(text);
}

/** Starts a realm with a directory server that is as fast as FreeIPA's. */
function start({ users, ldif, schema }: Flags): Promise<Realm> {
  return startRealm({ users, ldif, schema, demo: true, accessLog: 'buffered' });
}

/** Runs a realm until a signal. */
async function serve(flags: Flags): Promise<void> {
  const { envFile } = flags;
  const realm = await start(flags);
  const ended = new Promise(resolve => {
    onSignal = resolve;
  });
  try {
    const text = environmentText(realm);
    if (envFile) {
      await writeFile(`${envFile}.new`, text, { mode: 0o600 });
      await rename(`${envFile}.new`, envFile);
    }
    process.stdout.write(text);
    const alive = setInterval(() => {}, 2 ** 30);
    await ended;
    clearInterval(alive);
  } finally {
    await realm.stop();
    if (envFile) {
      await rm(envFile, { force: true });
    }
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
 * Runs a command, and a realm for as long as the command runs. Exits with the
 * status of the command, or 128 plus the number of a signal.
 */
async function runCommand(
  [command, ...args]: readonly string[],
  flags: Flags,
): Promise<void> {
  const realm = await start(flags);
  try {
    const env = { ...process.env, ...realm.env };
    const child = spawn(command, args, { stdio: 'inherit', env });
    onSignal = signal => {
      // A terminal has sent Ctrl-C to the command as well.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) {
        child.kill(signal);
      }
    };
    const [code, signal] = await once(child, 'exit');
    process.exitCode = code ?? statusAfter(signal);
  } catch (error) {
    process.stderr.write(`realm: ${(error as Error).message}\n`);
    process.exitCode = CANNOT_RUN;
  } finally {
    await realm.stop();
  }
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
