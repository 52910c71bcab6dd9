import type { JsonObject } from '@backstage/types';
import { freePorts, type Realm } from '@directory-gateway/realm';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The plugin in a backend of its own, in a process of its own. */
export interface Gateway {
  /** For example `http://localhost:40123`. */
  readonly baseUrl: string;
  /** Everything that the process has printed. */
  readonly log: () => string;
  /** Whether the process lives. */
  readonly alive: () => boolean;
  /** Ends the process at once, as a machine does that is switched off. */
  kill(): Promise<void>;
  /** Ends the process in order and removes its files. */
  stop(): Promise<void>;
}

/**
 * How long a process may take to end. The portal's own requests for events last
 * a minute, and in production Backstage waits for them.
 */
const PATIENCE_MS = 3_000;

const repositoryRoot = resolve(__dirname, '../../../../..');

/**
 * Boots the plugin against a realm and resolves when it responses. It runs in a
 * child process, because the Kerberos library reads the real environment, and
 * so that a test sees whether the process lives.
 */
export async function startGateway(options: {
  readonly realm: Realm;
  /** Merged over the `directory` block. */
  readonly directory?: JsonObject;
  /** Merged over the `kerberos` block. */
  readonly kerberos?: JsonObject;
  /** `auth.providers.kerberos.signIn`. Default: the provider is not enabled. */
  readonly kerberosSignIn?: JsonObject;
  /** The `catalog` block. */
  readonly catalog?: JsonObject;
  /** The user that the guest provider signs in. */
  readonly guest?: string;
  /** `permission.directory`. Default: guests are treated like other users. */
  readonly policy?: JsonObject;
  /** A token that stands for another service of the site. */
  readonly serviceToken?: string;
  /** A program's token, and the only permissions that it has. */
  readonly program?: {
    readonly token: string;
    readonly permissions: readonly string[];
  };
  /** What to boot, from the root of the repository. Default: the plugin alone. */
  readonly entry?: string;
  /** Where it listens, as another one before it. Default: a free port. */
  readonly port?: number;
  /** Merged over the `backend` block. */
  readonly backend?: JsonObject;
  /** What its clients call, where that is something in front of it. */
  readonly externalUrl?: string;
  /** Merged over the environment of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * When the promise resolves: as soon as the process accepts connections, or
   * when its readiness check succeeds. Default: ready.
   */
  readonly until?: 'listening' | 'ready';
}): Promise<Gateway> {
  const { entry = 'plugins/directory-backend/dev/index.ts' } = options;
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const { port = (await freePorts(1))[0] } = options;
  const baseUrl = `http://localhost:${port}`;
  const configFile = join(folder, 'app-config.json');
  await writeFile(configFile, JSON.stringify(configOf(options, port)));
  const child = spawn(
    process.execPath,
    [
      ...[
        '--require',
        require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
      ],
      ...[join(repositoryRoot, entry), '--config', configFile],
    ],
    {
      cwd: repositoryRoot,
      env: {
        ...environment(),
        KRB5_CONFIG: options.realm.krb5Config,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const log: string[] = [];
  child.stdout.setEncoding('utf8').on('data', text => log.push(text));
  child.stderr.setEncoding('utf8').on('data', text => log.push(text));
  const end = async (signal: NodeJS.Signals) => {
    if (isAlive(child)) {
      child.kill(signal);
      await once(child, 'exit');
    }
  };
  const gateway: Gateway = {
    baseUrl,
    log: () => log.join(''),
    alive: () => isAlive(child),
    kill: () => end('SIGKILL'),
    async stop() {
      const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await end('SIGTERM');
      clearTimeout(patience);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await waitUntil(options.until ?? 'ready', gateway);
  return gateway;
}

function configOf(
  options: Parameters<typeof startGateway>[0],
  port: number,
): JsonObject {
  const { realm, externalUrl: baseUrl = `http://localhost:${port}` } = options;
  return {
    app: { baseUrl, title: 'Test' },
    backend: {
      baseUrl,
      listen: { host: '127.0.0.1', port },
      // No connection ends between two requests of a slow machine.
      server: { keepAliveTimeout: { minutes: 5 } },
      auth: { externalAccess: externalAccessOf(options) },
      database: { client: 'better-sqlite3', connection: ':memory:' },
      ...options.backend,
    },
    auth: {
      providers: {
        ...(options.kerberosSignIn && {
          kerberos: { signIn: options.kerberosSignIn },
        }),
        guest: {
          userEntityRef: options.guest ?? 'user:default/alice',
          dangerouslyAllowOutsideDevelopment: true,
        },
      },
    },
    // The plugin alone has nobody who could decide.
    permission: {
      enabled: options.entry !== undefined,
      directory: options.policy ?? { dangerouslyAllowGuests: true },
    },
    ...(options.catalog && { catalog: options.catalog }),
    kerberos: { keytab: realm.keytab, ...options.kerberos },
    directory: {
      ldap: ldapOf(realm),
      ...options.directory,
    },
  };
}

function externalAccessOf({
  serviceToken,
  program,
}: Pick<
  Parameters<typeof startGateway>[0],
  'serviceToken' | 'program'
>): JsonObject[] {
  return [
    ...(serviceToken === undefined
      ? []
      : [
          {
            type: 'static',
            options: { token: serviceToken, subject: 'plugin:test' },
          },
        ]),
    ...(program === undefined
      ? []
      : [
          {
            type: 'static',
            options: { token: program.token, subject: 'program' },
            accessRestrictions: [
              { plugin: 'directory', permission: [...program.permissions] },
            ],
          },
        ]),
  ];
}

/**
 * The `directory.ldap` block for a realm. Its timeouts are long, so that no test
 * fails because a machine is busy; a test of a timeout sets a short one.
 */
export function ldapOf(realm: Realm): JsonObject {
  return {
    servers: [realm.ldapsUrl],
    caFile: realm.caFile,
    baseDn: realm.baseDn,
    bindDn: realm.bindDn,
    bindPasswordFile: realm.bindPasswordFile,
    connectTimeout: { minutes: 1 },
    operationTimeout: { minutes: 1 },
  };
}

/** The test's own ticket cache and keytab must not become the gateway's. */
function environment(): NodeJS.ProcessEnv {
  const { KRB5CCNAME: _cache, KRB5_KTNAME: _keytab, ...rest } = process.env;
  return { ...rest, NODE_ENV: 'development', LOG_LEVEL: 'info' };
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function waitUntil(
  state: 'listening' | 'ready',
  gateway: Gateway,
): Promise<void> {
  const url = `${gateway.baseUrl}/.backstage/health/v1/readiness`;
  const intervalMs = state === 'listening' ? 5 : 100;
  // Readiness may wait a minute for the directory.
  const endsAt = performance.now() + 120_000;
  while (performance.now() < endsAt && isComing(gateway)) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok || (response && state === 'listening')) {
      return;
    }
    await sleep(intervalMs);
  }
  await gateway.stop();
  throw new Error(`The gateway did not start:\n${gateway.log()}`);
}

/** In development a backend lives on without the plugin that failed. */
function isComing(gateway: Gateway): boolean {
  return (
    gateway.alive() && !gateway.log().includes('threw an error during startup')
  );
}
