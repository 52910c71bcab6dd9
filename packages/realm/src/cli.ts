import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { constants } from 'node:os';
import { startRealm, type Realm, type RealmOptions } from './startRealm';

const USAGE = `usage: realm serve               prints the environment of a realm, until a signal
       realm run -- COMMAND...   runs a command in the environment of a realm
Variables: USERS=200, LDIF=path, SCHEMA=fas|freeipa
`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals are handled when the realm has started; until then, they end it. */
const received = new EventEmitter();
SIGNALS.forEach(signal =>
  process.on(signal, () => {
    if (!received.emit('signal', signal)) {
      process.exit(statusAfter(signal));
    }
  }),
);

main().then(
  status => {
    process.exitCode = status;
  },
  error => {
    process.stderr.write(`realm: ${error.message}\n`);
    process.exitCode = 1;
  },
);

async function main(): Promise<number> {
  const [action, dashes, command, ...args] = process.argv.slice(2);
  const isRun = action === 'run' && dashes === '--' && command;
  if (!isRun && (action !== 'serve' || dashes)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const realm = await startRealm(optionsOf(process.env));
  try {
    return isRun ? await runCommand(realm, command, args) : await serve(realm);
  } finally {
    await realm.stop();
  }
}

/** Returns options with a directory server that is as fast as FreeIPA's. */
function optionsOf({ USERS, LDIF, SCHEMA }: NodeJS.ProcessEnv): RealmOptions {
  if (SCHEMA && SCHEMA !== 'fas' && SCHEMA !== 'freeipa') {
    throw new Error(`SCHEMA: ${SCHEMA} is neither fas nor freeipa`);
  }
  return {
    users: USERS ? Number(USERS) : undefined,
    ldif: LDIF || undefined,
    schema: (SCHEMA || undefined) as RealmOptions['schema'],
    accessLog: 'buffered',
  };
}

/** Prints the environment of a realm for a shell, and waits for a signal. */
async function serve({ realm, dir, env }: Realm): Promise<number> {
  const exports = Object.entries(env).map(
    ([key, value]) => `export ${key}='${value.replaceAll("'", `'\\''`)}'`,
  );
  process.stdout.write(`# Kerberos realm ${realm} and its directory, in ${dir}
# kinit -k -t "$KEYTAB" alice     # or bob (private), carol (locked), admin,
#                                 # bot/builder.example.test, host/build1.example.test
# ldapsearch -N -Y GSSAPI -H "$REALM_LDAP_URL" -b "$REALM_BASE_DN" uid=alice
${exports.join('\n')}
`);
  const alive = setInterval(() => {}, 2 ** 30);
  await once(received, 'signal');
  clearInterval(alive);
  return 0;
}

/** Returns the status of the command, or 128 plus the number of a signal. */
async function runCommand(
  realm: Realm,
  command: string,
  args: readonly string[],
): Promise<number> {
  const env = { ...process.env, ...realm.env };
  const child = spawn(command, args, { stdio: 'inherit', env });
  received.on('signal', signal => {
    // A terminal has sent Ctrl-C to the command as well.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) {
      child.kill(signal);
    }
  });
  const [code, signal] = await once(child, 'exit');
  return code ?? statusAfter(signal);
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
