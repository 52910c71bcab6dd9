import type { PostgresServer, Realm } from '@directory-gateway/realm';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';

/** CPU of the portal; everything else has the other one. */
const PORTAL_CPU = 0;

/** Root of the repository. */
export const ROOT = join(__dirname, '../..');

/** Options of `make start`. */
const NODE_OPTIONS = '--max-semi-space-size=16 --max-old-space-size=1024';
const START_TIMEOUT_MS = 30 * 60_000;
/** An idle process uses at most a tenth of the CPU in each of these periods. */
const IDLE_PERIOD_MS = 5000;
const IDLE_PERIODS = 2;

/** Headers of a request by lowercase name. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Measurements by their titles, which contain the unit. */
export type Values = Readonly<Record<string, number | undefined>>;

/** Resources of the portal's process: response of `benchmarkPlugin.cjs`. */
interface Usage {
  /** CPU time since the start. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** Since the start. */
  readonly highestRssBytes: number;
  /** Longest stop of the event loop since the last reset. */
  readonly longestStopMs: number;
}

/**
 * The production build of `scripts/build`, started as by `make start`, on its
 * own CPU. Its log is a file in the realm's folder.
 */
export class MeasuredPortal {
  readonly realm: Realm;
  readonly origin: string;
  readonly #startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #log: string;
  #guest: RequestHeaders | undefined;

  /** @param postgres - default: SQLite in memory */
  constructor(realm: Realm, port: number, postgres?: PostgresServer) {
    const folder = join(realm.dir, `portal-${port}`);
    execFileSync(join(ROOT, 'scripts/ca'), {
      env: { ...process.env, FOLDER: folder, ORGANIZATION: realm.realm },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const { host, user } = postgres?.connection('postgres') ?? {};
    const config = [
      'app-config.yaml',
      'app-config.demo.yaml',
      'benchmarks/app-config.benchmarks.yaml',
      ...(postgres ? ['benchmarks/app-config.postgresql.yaml'] : []),
    ].flatMap(file => ['--config', join(ROOT, file)]);
    this.realm = realm;
    this.origin = `http://127.0.0.1:${port}`;
    this.#log = join(folder, 'portal.log');
    const output = openSync(this.#log, 'w');
    this.#child = spawn(
      'setpriv',
      [
        // The kernel kills it when this process exits (prctl(2)).
        ...['--pdeathsig=KILL', 'taskset', '--cpu-list', `${PORTAL_CPU}`],
        process.execPath,
        ...['--require', join(__dirname, 'benchmarkPlugin.cjs')],
        ...['packages/backend', ...config],
      ],
      {
        cwd: join(ROOT, '.build/portal'),
        env: {
          ...process.env,
          ...realm.env,
          NODE_ENV: 'production',
          NODE_OPTIONS: process.env.NODE_OPTIONS ?? NODE_OPTIONS,
          PORT: `${port}`,
          PORTAL_URL: `http://localhost:${port}`,
          DEMO_CA: folder,
          POSTGRES_HOST: host,
          POSTGRES_USER: user,
        },
        stdio: ['ignore', output, output],
      },
    );
    this.#exit = once(this.#child, 'exit');
  }

  /**
   * Waits until the work after the start has ended, such as filling the
   * catalog, and returns the time since the start in seconds.
   */
  async untilIdle(): Promise<number> {
    const cpuMs = () =>
      this.usage().then(
        usage => usage.cpuMs,
        () => NaN,
      );
    for (let idlePeriods = 0; idlePeriods < IDLE_PERIODS;) {
      const before = await cpuMs();
      await sleep(IDLE_PERIOD_MS);
      const isIdle = (await cpuMs()) - before < IDLE_PERIOD_MS / 10;
      idlePeriods = isIdle && (await this.#isFilled()) ? idlePeriods + 1 : 0;
      const { exitCode, signalCode } = this.#child;
      const isLate = performance.now() - this.#startedAt > START_TIMEOUT_MS;
      if (isLate || exitCode !== null || signalCode !== null) {
        const log = readFileSync(this.#log, 'utf8').slice(-4000);
        throw new Error(`The portal is not ready: ${log}`);
      }
    }
    const idleMs = IDLE_PERIODS * IDLE_PERIOD_MS;
    return (performance.now() - this.#startedAt - idleMs) / 1000;
  }

  /** Returns whether the catalog has all users and groups. */
  async #isFilled(): Promise<boolean> {
    const read = async (path: string) =>
      JSON.parse((await this.get(path)).text);
    const users = await read('/api/directory/v1/users/?page_size=1');
    const groups = await read('/api/directory/v1/groups/?page_size=1');
    const { totalItems } = await read(
      '/api/catalog/entities/by-query?limit=1&filter=kind=user&filter=kind=group',
    );
    return totalItems >= users.total_results + groups.total_results;
  }

  /** Adds the resources during some work to its values. */
  async observe(when: string, work: () => Promise<Values>): Promise<Values> {
    await this.usage('?reset');
    const values = await work();
    const { rssBytes, longestStopMs } = await this.usage();
    return {
      ...values,
      [`RSS ${when}, MiB`]: rssBytes / 2 ** 20,
      [`longest stop ${when}, ms`]: longestStopMs,
    };
  }

  async usage(query: '' | '?reset' = ''): Promise<Usage> {
    const { text } = await this.get(`/api/benchmark/usage${query}`, {});
    return JSON.parse(text);
  }

  /** @param headers - default: a portal token of the guest */
  async get(
    path: string,
    headers?: RequestHeaders,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { statusCode, body } = await request(`${this.origin}${path}`, {
      headers: headers ?? (await this.#guestHeaders()),
    });
    return { status: statusCode, text: await body.text() };
  }

  /** The guest is a user of the directory; see app-config.demo.yaml. */
  async #guestHeaders(): Promise<RequestHeaders> {
    if (!this.#guest) {
      const { text } = await this.get('/api/auth/guest/refresh', {
        'x-requested-with': 'XMLHttpRequest',
      });
      const { token } = JSON.parse(text).backstageIdentity;
      this.#guest = { authorization: `Bearer ${token}` };
    }
    return this.#guest;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
