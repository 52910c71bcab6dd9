import type { Realm } from '@directory-gateway/realm';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { REPOSITORY, sourceFile } from './folders';
import { freePort } from './freePort';

const PROBE = pathToFileURL(sourceFile('portalProbe.mjs')).href;
/** A portal lives on, never ready, when one of its plugins does not start. */
const START_MS = 60_000;
/** What of a log that ended badly is shown. */
const LAST_CHARACTERS = 4000;

/** What the portal's process has used since it was last asked. */
export interface Vitals {
  /** Milliseconds on a CPU. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** 99th percentile of how late the event loop's timers were. */
  readonly eventLoopDelayMs: number;
}

/** How a portal is started. */
export interface PortalOptions {
  readonly realm: Realm;
  /** As `directory.reads`. */
  readonly reads: string;
  /** The CPU it has for itself. */
  readonly cpu: number;
  /** Folder for a CPU profile, written when it stops. Default: none. */
  readonly profileTo?: string;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/**
 * The production build (`scripts/build`) as `make start` runs it, its log in
 * a file of the realm's folder.
 */
export class Portal {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(options: {
    readonly origin: string;
    readonly child: ChildProcess;
    readonly log: string;
  }) {
    this.origin = options.origin;
    this.#child = options.child;
    this.#log = options.log;
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @throws Error with the end of its log, when it is not ready in a minute
   */
  static async start(options: PortalOptions): Promise<Portal> {
    const port = await freePort();
    const log = join(options.realm.dir, 'portal.log');
    const output = await open(log, 'w');
    const child = spawn('taskset', commandLine(options), {
      cwd: join(REPOSITORY, '.build/portal'),
      env: environment(options, port),
      stdio: ['ignore', output.fd, output.fd, 'ipc'],
      // Out of reach of the terminal's Ctrl-C: the bench ends it in order.
      detached: true,
    });
    await once(child, 'spawn');
    await output.close();
    const origin = `http://127.0.0.1:${port}`;
    const portal = new Portal({ origin, child, log });
    try {
      await portal.#untilReady(options.signal);
    } catch (error) {
      await portal.stop();
      throw error;
    }
    return portal;
  }

  /** A token of the portal for the user whom its guest provider signs in. */
  async token(): Promise<string> {
    const response = await fetch(`${this.origin}/api/auth/guest/refresh`, {
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
    });
    const { backstageIdentity } = await response.json();
    return backstageIdentity.token;
  }

  /** What it has used since the last call. */
  async vitals(): Promise<Vitals> {
    this.#child.send('vitals');
    const [vitals] = await once(this.#child, 'message');
    return vitals as Vitals;
  }

  /** Ends it in order and waits. */
  async stop(): Promise<void> {
    if (this.#isAlive) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'exit');
    }
  }

  get #isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    const url = `${this.origin}/.backstage/health/v1/readiness`;
    const start = performance.now();
    while (this.#isAlive && performance.now() - start < START_MS) {
      const response = await fetch(url).catch(() => undefined);
      if (response?.ok) {
        return;
      }
      await sleep(100, undefined, { signal });
    }
    const said = await readFile(this.#log, 'utf8');
    throw new Error(`The portal is not ready: ${said.slice(-LAST_CHARACTERS)}`);
  }
}

function commandLine({ cpu, profileTo }: PortalOptions): string[] {
  return [
    ...['--cpu-list', `${cpu}`, process.execPath, '--import', PROBE],
    ...(profileTo ? ['--cpu-prof', `--cpu-prof-dir=${profileTo}`] : []),
    'packages/backend',
    ...['app-config.yaml', 'bench/app-config.bench.yaml'].flatMap(file => [
      '--config',
      join(REPOSITORY, file),
    ]),
  ];
}

function environment(
  { realm, reads }: PortalOptions,
  port: number,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...realm.env,
    NODE_ENV: 'production',
    READS: reads,
    PORT: `${port}`,
    BENCH_CA_KEY: join(realm.dir, 'ca.key'),
  };
}
