import type { JsonObject } from '@backstage/types';
import { freePorts, type Realm } from '@directory-gateway/realm';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ldapOf } from '@directory-gateway/ldap/testUtils';

/** A backend with the plugin, in a child process. */
export interface Gateway {
  /** URL of the gateway, for example `http://localhost:40123`. */
  readonly baseUrl: string;
  /** Returns the output of the process. */
  readonly log: () => string;
  /** Returns whether the process is running. */
  readonly alive: () => boolean;
  /** Kills the process. */
  kill(): Promise<void>;
  /** Shuts down the process and removes its files. */
  stop(): Promise<void>;
}

/** State of a gateway; `ready` means that the first sync has finished. */
type StartState = 'listening' | 'started' | 'ready';

/** Milliseconds after which a process that does not stop is killed. */
const SHUTDOWN_MS = 60_000;

const repositoryRoot = resolve(__dirname, '../../../../..');

/** Bundles the sources, once per test file. */
let bundled: Promise<unknown> | undefined;
const bundle = () =>
  promisify(execFile)(process.execPath, [
    join(repositoryRoot, 'scripts/bundle-gateways.mjs'),
  ]);

/**
 * Starts the plugin with the directory of a realm and resolves when it is
 * ready. The child process has a separate environment, which the Kerberos
 * library reads, and its exit lets a test detect a crash.
 */
export async function startGateway(options: {
  readonly realm: Realm;
  /** Merged into the `directory` block. */
  readonly directory?: JsonObject;
  /** Merged into the `kerberos` block. */
  readonly kerberos?: JsonObject;
  /**
   * Value of `auth.providers.kerberos.signIn`. Default: the provider is
   * disabled.
   */
  readonly kerberosSignIn?: JsonObject;
  /** The `catalog` block. */
  readonly catalog?: JsonObject;
  /** The `search` block. */
  readonly search?: JsonObject;
  /** The user that the guest provider signs in. */
  readonly guest?: string;
  /**
   * Value of `permission.directory`. Default: guests are treated like other
   * users.
   */
  readonly policy?: JsonObject;
  /** Token of another plugin (external access). */
  readonly serviceToken?: string;
  /** Token and permissions of an API client (external access). */
  readonly apiClient?: {
    readonly token: string;
    readonly permissions: readonly string[];
  };
  /**
   * Bundle of `scripts/bundle-gateways.mjs`: only the plugin (the default), the
   * whole portal, its API alone, or one for some tests.
   */
  readonly entry?:
    | 'gateway'
    | 'portal'
    | 'api'
    | 'catalogPortal'
    | 'ldapPortal'
    | 'visibilityPortal';
  /** Default: a free port. */
  readonly port?: number;
  /** Merged into the `backend` block. */
  readonly backend?: JsonObject;
  /** URL of a proxy or load balancer in front. Default: URL of the process. */
  readonly externalUrl?: string;
  /** Merged into the environment of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * State in which the promise resolves: the process accepts connections, its
   * plugins have started, or its replica is also ready. Default: `ready`.
   */
  readonly until?: StartState;
}): Promise<Gateway> {
  const { entry = 'gateway' } = options;
  await (bundled ??= bundle());
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const { port = (await freePorts(1))[0] } = options;
  const baseUrl = `http://localhost:${port}`;
  const configFile = join(folder, 'app-config.json');
  await writeFile(configFile, JSON.stringify(configOf(options, port)));
  // Within the repository, Backstage would compile the configuration schemas of
  // all packages, which takes half of the startup time.
  await writeFile(join(folder, 'package.json'), '{ "name": "gateway" }');
  const child = spawn(
    process.execPath,
    [
      ...['--require', require.resolve('./exitWithParent.cjs')],
      ...[join(repositoryRoot, `.build/gateways/${entry}.js`)],
      ...['--config', configFile],
    ],
    {
      cwd: folder,
      env: {
        ...environment(),
        KRB5_CONFIG: options.realm.krb5Config,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  const log: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    output!.setEncoding('utf8').on('data', text => log.push(text));
  }
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
      const timer = setTimeout(() => child.kill('SIGKILL'), SHUTDOWN_MS);
      await end('SIGTERM');
      clearTimeout(timer);
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
    // The configuration of the pages, which no test opens, takes a second to
    // compile.
    app: { baseUrl, title: 'Test', disableConfigInjection: true },
    backend: {
      baseUrl,
      listen: { host: '127.0.0.1', port },
      // Keeps connections open between two requests on a slow machine.
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
    // Only the whole portal has a permission backend.
    permission: {
      enabled: options.entry !== undefined,
      directory: options.policy ?? { dangerouslyAllowGuests: true },
    },
    ...(options.catalog && { catalog: options.catalog }),
    ...(options.search && { search: options.search }),
    kerberos: { keytab: realm.keytab, ...options.kerberos },
    directory: {
      ldap: ldapOf(realm),
      ...options.directory,
    },
  };
}

function externalAccessOf({
  serviceToken,
  apiClient,
}: Parameters<typeof startGateway>[0]): JsonObject[] {
  const access: JsonObject[] = [];
  if (serviceToken) {
    const options = { token: serviceToken, subject: 'plugin:test' };
    access.push({ type: 'static', options });
  }
  if (apiClient) {
    const { token, permissions } = apiClient;
    access.push({
      type: 'static',
      options: { token, subject: 'api-client' },
      accessRestrictions: [
        { plugin: 'directory', permission: [...permissions] },
      ],
    });
  }
  return access;
}

/** Returns the environment without the ticket cache and keytab of the test. */
function environment(): NodeJS.ProcessEnv {
  const { KRB5CCNAME: _cache, KRB5_KTNAME: _keytab, ...rest } = process.env;
  return {
    ...rest,
    NODE_ENV: 'development',
    NODE_COMPILE_CACHE: join(repositoryRoot, '.build/compile-cache'),
    LOG_LEVEL: 'info',
  };
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function waitUntil(state: StartState, gateway: Gateway): Promise<void> {
  const intervalMs = state === 'listening' ? 5 : 100;
  const endsAt = performance.now() + 300_000;
  while (performance.now() < endsAt && isStarting(gateway)) {
    if (await hasReached(state, gateway).catch(() => false)) {
      return;
    }
    await sleep(intervalMs);
  }
  await gateway.stop();
  throw new Error(`The gateway did not start:\n${gateway.log()}`);
}

async function hasReached(
  state: StartState,
  { baseUrl }: Gateway,
): Promise<boolean> {
  const { ok } = await fetch(`${baseUrl}/.backstage/health/v1/readiness`);
  if (state === 'ready' && ok) {
    // A replica whose reads are suspended has started, too.
    const response = await fetch(`${baseUrl}/api/directory/healthz/ready`);
    return !/First sync/.test(await response.text());
  }
  return state === 'listening' || ok;
}

/** In development, a backend keeps running without a plugin that failed. */
function isStarting(gateway: Gateway): boolean {
  return (
    gateway.alive() && !gateway.log().includes('threw an error during startup')
  );
}
