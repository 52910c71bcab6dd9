// Runs the portal on the realm in the environment, prints the first call when
// the portal is ready, and stops the portal on a signal.
//
//   node scripts/portal.mjs built      the build of scripts/build, as in production
//   node scripts/portal.mjs sources    with reload; pages on a separate port
//
// Additional arguments are configuration files, loaded after the demo's. PORT
// is the server's port; PORTAL_URL is the URL of the pages in a browser. With
// CA=step-ca, step-ca signs, built from Debian's packages, with its own root;
// with API=1, the build serves only the API.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Timeout for a stop. */
const STOP_TIMEOUT_MS = 3_000;

/** See docs/monitor.md, "Memory and CPU". */
const NODE_OPTIONS = '--max-semi-space-size=16 --max-old-space-size=1024';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [mode, ...furtherConfig] = process.argv.slice(2);
const scratch = await mkdtemp(join(tmpdir(), 'portal-'));
const isApi = mode === 'built' && process.env.API === '1';
const stepCa = process.env.CA === 'step-ca' ? await startStepCa() : undefined;
const config = [
  ...['app-config.yaml', 'app-config.demo.yaml'],
  ...(stepCa ? [join(scratch, 'step-ca.json')] : []),
  ...furtherConfig,
]
  .map(file => resolve(root, file))
  .flatMap(file => ['--config', file]);
const modes = {
  built: {
    command: [
      process.execPath,
      isApi ? 'packages/backend/dist/api.cjs.js' : 'packages/backend',
      ...config,
    ],
    cwd: join(root, '.build/portal'),
    env: {
      NODE_ENV: 'production',
      NODE_OPTIONS: process.env.NODE_OPTIONS ?? NODE_OPTIONS,
    },
    stdout: 'pipe',
  },
  sources: {
    command: ['yarn', 'start', ...config],
    cwd: root,
    env: {
      // After an edit, Backstage passes a database in memory to the restarted
      // process within 5 seconds, or the start fails.
      APP_CONFIG_backend_database_connection: JSON.stringify({
        directory: join(scratch, 'database'),
      }),
    },
    stdout: 'inherit',
  },
};

const { command, cwd, env, stdout } = modes[mode];
const [program, ...args] = command;
const variables = {
  ...env,
  DEMO_CA: join(scratch, 'ca'),
};
execFileSync(join(root, 'scripts/ca'), {
  env: {
    ...process.env,
    FOLDER: variables.DEMO_CA,
    ORGANIZATION: process.env.REALM,
    URL: `http://localhost:${process.env.PORT}/api/directory`,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const portal = spawn(program, args, {
  cwd,
  env: { ...process.env, ...variables },
  stdio: ['ignore', stdout, 'inherit'],
  // A process group: it gets Ctrl-C only once, from stop(), and includes all
  // processes that `yarn start` has started.
  detached: true,
});
const exit = once(portal, 'exit');

// scripts/doctor checks this portal.
const environment = join(root, '.build/portal.env');
await mkdir(dirname(environment), { recursive: true });
await rm(environment, { force: true });
await writeFile(environment, environmentText(), { mode: 0o600 });

/** Starts step-ca, and writes the portal's configuration for it. */
async function startStepCa() {
  const require = createRequire(import.meta.url);
  // Compiles TypeScript.
  require('@backstage/cli/config/nodeTransform.cjs');
  const utils = `${root}/plugins/directory-backend-module-step-ca/src/__testUtils__`;
  const started = await require(`${utils}/RealStepCa.ts`).RealStepCa.start();
  const { rootFile, provisionerKeyFile } = started.files;
  const profiles = [
    {
      name: 'userCerts',
      validity: '7 days',
      extendedKeyUsage: ['clientAuth'],
    },
  ];
  const certificates = {
    authority: 'step-ca',
    stepCa: { url: started.url, rootFile, provisionerKeyFile, profiles },
  };
  await writeFile(
    join(scratch, 'step-ca.json'),
    JSON.stringify({ directory: { certificates } }),
  );
  console.log(`step-ca: ${started.url}, its root is ${rootFile}`);
  return started;
}

/** Returns the portal's variables and options, for a shell. */
function environmentText() {
  const quote = value => `'${value.replaceAll("'", `'\\''`)}'`;
  const { KRB5_CONFIG, PORT, PORTAL_URL, ...others } = process.env;
  const exported = {
    KRB5_CONFIG,
    PORT,
    PORTAL_URL,
    ...variables,
    ...Object.fromEntries(
      Object.entries(others).filter(([key]) => /^REALM[A-Z_]*$/.test(key)),
    ),
  };
  return [
    `portal=${process.pid}`,
    `folder=${quote(cwd)}`,
    ...Object.entries(exported).map(
      ([key, value]) => `export ${key}=${quote(value)}`,
    ),
    `options=(${config.map(quote).join(' ')})`,
    '',
  ].join('\n');
}

/**
 * Formats the first steps with a portal that has just started: a call for
 * another terminal, and the principals of the realm.
 */
function firstCall({ PORT, PORTAL_URL, KRB5_CONFIG, KEYTAB }) {
  // In a folder that the realm removes when it stops.
  const ticket = join(dirname(KRB5_CONFIG), 'ticket');
  const ready = isApi
    ? `The API is ready at http://localhost:${PORT}/api/directory/v1/.`
    : `The portal is ready at ${PORTAL_URL}. Choose "Enter as Alice (demo)" to sign in.`;
  const browser = isApi
    ? ''
    : `Chromium signs in to the portal with the same ticket:

  chromium --auth-server-allowlist=localhost ${PORTAL_URL}

`;
  return `
${ready}

The first call, in another terminal:

  export KRB5_CONFIG=${KRB5_CONFIG} KRB5CCNAME=${ticket} KEYTAB=${KEYTAB}
  kinit -k -t "$KEYTAB" alice
  curl --negotiate -u : http://localhost:${PORT}/api/directory/v1/me/

${browser}Principals for kinit:

  alice                       an ordinary user
  bob                         a user with a private profile
  bot/builder.example.test    a service
  host/build1.example.test    a host
  admin                       an administrator without an account in the Fedora Account System
  carol                       a user whose account is locked
  eve                         a user whose account has expired

Ctrl-C stops the portal and the realm.
`;
}

/**
 * Formats a line of the portal's log, which is JSON in production, as text.
 * Returns other lines unchanged, and `undefined` for GET requests that
 * succeeded: the import into the catalog sends hundreds of them.
 */
function plainLogLine(line) {
  let record;
  try {
    record = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof record?.message !== 'string') {
    return line;
  }
  const { level, plugin, service, message, stack } = record;
  if (
    record.type === 'incomingRequest' &&
    record.method === 'GET' &&
    record.status < 400
  ) {
    return undefined;
  }
  const text = level === 'info' ? message : (stack ?? message);
  return `${level} ${plugin ?? service ?? 'backstage'}: ${text}`;
}

let stopping = false;
function stop() {
  stopping = true;
  signalAll('SIGTERM');
  // Backstage waits up to a minute for requests to its event bus. A demo keeps
  // all its data in memory.
  setTimeout(() => signalAll('SIGKILL'), STOP_TIMEOUT_MS).unref();
}
function signalAll(signal) {
  try {
    process.kill(-portal.pid, signal);
  } catch (error) {
    // ESRCH: the group has exited.
    if (error.code !== 'ESRCH') throw error;
  }
}
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// The parent has exited.
process.on('disconnect', stop);
process.channel?.unref();

if (portal.stdout) {
  createInterface({ input: portal.stdout }).on('line', line => {
    const text = plainLogLine(line);
    if (text !== undefined) console.log(text);
  });
}

async function untilReady() {
  const url = `http://127.0.0.1:${process.env.PORT}/.backstage/health/v1/readiness`;
  while (portal.exitCode === null && portal.signalCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) {
      console.log(firstCall(process.env));
      return;
    }
    await delay(200);
  }
}

untilReady();
const [code, signal] = await exit;
// Stops processes that remain after their leader.
signalAll('SIGKILL');
await stepCa?.stop();
await rm(scratch, { recursive: true, force: true });
await rm(environment, { force: true });
if (!stopping) {
  console.error(`The portal stopped by itself (${signal ?? `code ${code}`}).`);
  process.exitCode = code || 1;
}
