import { freePorts, type Realm } from '@directory-gateway/realm';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BENCHMARKS, settings } from '../settings';

/** Timeout of the start, including the replica's first sync. */
const START_TIMEOUT_MS = 180_000;
const POLL_MS = 20;
const STOP_TIMEOUT_MS = 3000;
/**
 * Duration of a sample of the CPU time, of which an idle portal uses at most a
 * tenth.
 */
const IDLE_SAMPLE_MS = 3000;
/** Unit of CPU times in /proc, 100 Hz on Linux. */
const CLOCK_TICK_MS = 10;
/** Number of characters from the end of the log in an error. */
const LOG_CHARACTERS = 4000;

/**
 * Options of `make start`; docs/monitor.md, "Memory and CPU", explains them.
 * `NODE_OPTIONS` in the environment replaces them.
 */
const NODE_OPTIONS = '--max-semi-space-size=16 --max-old-space-size=1024';

/** `none`: the same server without the directory plugin. */
export type PortalVariant = 'replica' | 'none';

/** Resources that the portal's process used since the last call. */
interface Vitals {
  readonly cpuMs: number;
  /** 99th percentile of the delay of the event loop's timers. */
  readonly eventLoopDelayMs: number;
  readonly maxEventLoopDelayMs: number;
}

/** Memory of the portal's process after a garbage collection. */
export interface Memory {
  readonly rssBytes: number;
  /** Maximum of the RSS since the start of the process. */
  readonly highestRssBytes: number;
  /** Heap and external buffers in use. */
  readonly usedBytes: number;
}

/** Options of a portal. */
interface PortalOptions {
  readonly realm: Realm;
  readonly variant: PortalVariant;
  /** Folder of the checkout whose build is started. Default: this one. */
  readonly checkout?: string;
  /**
   * Starts the sources instead of the build, without `instrument.mjs`, whose
   * hooks exclude those that compile the sources: `vitals`, `memory` and profiles
   * are not available.
   */
  readonly fromSources?: boolean;
  /** Path of an additional configuration file. */
  readonly config?: string;
}

/** Creates the embedded CA of a portal, and returns its folder. */
function createCa(realm: Realm, port: number): string {
  const folder = join(realm.dir, `ca-${port}`);
  const program = join(
    dirname(BENCHMARKS),
    'plugins/directory-backend-module-embedded-ca/bin/embedded-ca',
  );
  for (const command of ['create', 'intermediate']) {
    execFileSync(
      program,
      [command, '--folder', folder, '--organization', realm.realm],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
  }
  return folder;
}

/**
 * The production build of `scripts/build`, started as by `make start`, or the
 * sources with the same options. Its log is a file in the realm's folder.
 */
export class Portal {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Start of the process, by `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(port: number, child: ChildProcess, log: string) {
    this.origin = `http://127.0.0.1:${port}`;
    this.#child = child;
    this.#log = log;
  }

  /** Starts the process and returns before it listens. */
  static async start(options: PortalOptions): Promise<Portal> {
    const { realm, variant, checkout = dirname(BENCHMARKS) } = options;
    const { fromSources = false } = options;
    const [port] = await freePorts(1);
    const config = [
      'benchmarks/app-config.benchmarks.yaml',
      // The file's name in earlier commits.
      'bench/app-config.bench.yaml',
    ].find(file => existsSync(join(checkout, file)))!;
    const log = join(realm.dir, `portal-${port}.log`);
    const output = await open(log, 'w');
    const child = spawnOnPortalCpu(
      [
        ...(fromSources
          ? [
              '--require',
              require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
              'packages/backend/src/index.ts',
            ]
          : [
              '--import',
              join(BENCHMARKS, 'src/portal/instrument.mjs'),
              'packages/backend',
            ]),
        '--config',
        join(checkout, 'app-config.yaml'),
        '--config',
        join(checkout, config),
        ...(options.config ? ['--config', options.config] : []),
      ],
      {
        realm,
        checkout,
        folder: fromSources ? checkout : undefined,
        output: output.fd,
        env: {
          PORT: `${port}`,
          BENCHMARK_VARIANT: variant,
          BENCH_CA: createCa(realm, port),
          // For earlier commits, which generate this key.
          BENCH_CA_KEY: join(realm.dir, `ca-${port}.key`),
        },
      },
    );
    const portal = new Portal(port, child, log);
    await once(child, 'spawn');
    await output.close();
    return portal;
  }

  /** Waits until all plugins have started; the first sync may still run. */
  async untilStarted(signal: AbortSignal): Promise<void> {
    const check = async () =>
      (await readFile(this.#log, 'utf8')).includes(
        'Plugin initialization complete',
      );
    await this.until(check, signal);
  }

  /** Waits until the portal is ready, which includes the first sync. */
  async untilReady(signal: AbortSignal): Promise<void> {
    await this.#untilOk('/.backstage/health/v1/readiness', signal);
  }

  /** Waits until the replica's first sync has finished. */
  async untilSynced(signal: AbortSignal): Promise<void> {
    await this.#untilOk('/api/directory/healthz/ready', signal);
  }

  async #untilOk(path: string, signal: AbortSignal): Promise<void> {
    const check = async () => (await fetch(`${this.origin}${path}`)).ok;
    await this.until(check, signal);
  }

  /**
   * Waits until a check returns true; a check that throws is repeated.
   *
   * @throws Error with the end of the log after the timeout
   */
  async until(
    check: () => Promise<boolean>,
    signal: AbortSignal,
    timeoutMs: number = START_TIMEOUT_MS,
  ): Promise<void> {
    const end = this.startedAt + timeoutMs;
    while (this.#isAlive && performance.now() < end) {
      if (await check().catch(() => false)) {
        return;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
    const log = await readFile(this.#log, 'utf8');
    throw new Error(`The portal is not ready: ${log.slice(-LOG_CHARACTERS)}`);
  }

  /** Signs in as the guest user and returns the Backstage token. */
  async token(): Promise<string> {
    const response = await fetch(`${this.origin}/api/auth/guest/refresh`, {
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
    });
    const { backstageIdentity } = await response.json();
    return backstageIdentity.token;
  }

  vitals(): Promise<Vitals> {
    return this.#call({ method: 'vitals' });
  }

  /**
   * Collects garbage and reads the memory usage, which takes eleven seconds.
   */
  memory(): Promise<Memory> {
    return this.#call({ method: 'memory' });
  }

  /** RSS in bytes, read from outside the process. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8');
    const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
    return Number(kibibytes) * 1024;
  }

  /** CPU time since the start, read from outside the process. */
  cpuMs(): Promise<number> {
    return processCpuMs(this.#child.pid!);
  }

  /** Waits until the catalog has processed its entities and the process is idle. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    let before = await this.cpuMs();
    let used = IDLE_SAMPLE_MS;
    while (used > IDLE_SAMPLE_MS / 10) {
      await sleep(IDLE_SAMPLE_MS, undefined, { signal });
      const now = await this.cpuMs();
      used = now - before;
      before = now;
    }
  }

  startProfile(): Promise<void> {
    return this.#call({ method: 'startProfile' });
  }

  /** Ends the CPU profile and writes it to a file. */
  stopProfile(file: string): Promise<void> {
    return this.#call({ method: 'stopProfile', file });
  }

  /** Stops the process, with SIGKILL after a timeout. */
  async stop(): Promise<void> {
    if (this.#isAlive) {
      const exit = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      // Backstage waits up to a minute for requests to its event bus.
      const timer = setTimeout(
        () => this.#child.kill('SIGKILL'),
        STOP_TIMEOUT_MS,
      );
      await exit;
      clearTimeout(timer);
    }
  }

  get #isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #call<T>(message: { method: string; file?: string }): Promise<T> {
    this.#child.send(message);
    const [{ result }] = await once(this.#child, 'message');
    return result;
  }
}

/** CPU time of a process since its start, in milliseconds (proc(5)). */
async function processCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/**
 * Starts Node.js as for the portal, with its folder, CPU, options and
 * environment.
 */
export function spawnOnPortalCpu(
  args: readonly string[],
  options: {
    readonly realm: Realm;
    readonly checkout?: string;
    /** Default: `PORTAL`, or the build of the checkout. */
    readonly folder?: string;
    /** File descriptor of the log. */
    readonly output: number | 'inherit';
    readonly env?: NodeJS.ProcessEnv;
  },
): ChildProcess {
  const { realm, checkout = dirname(BENCHMARKS), output, env } = options;
  return spawn(
    'taskset',
    ['--cpu-list', `${settings.portalCpu}`, process.execPath, ...args],
    {
      cwd:
        options.folder ??
        (process.env.PORTAL || join(checkout, '.build/portal')),
      env: {
        ...process.env,
        ...realm.env,
        NODE_ENV: 'production',
        NODE_OPTIONS: process.env.NODE_OPTIONS ?? NODE_OPTIONS,
        ...env,
      },
      stdio: ['ignore', output, output, 'ipc'],
      // Ctrl-C reaches only the parent, which stops this process.
      detached: true,
    },
  );
}
