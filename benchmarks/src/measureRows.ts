import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import {
  CpuMeter,
  median,
  milliseconds,
  rate,
  ratioMargin,
  type ClosedLoop,
  type Sample,
} from './ClosedLoop';
import type { Credentials, Mode } from './credentials/credentials';
import type { DirectoryClient } from './DirectoryClient';
import type { Limits, ReferenceRates } from './limits';
import type { People } from './People';
import type { Portal } from './portal/Portal';
import type { Scenario, ScenarioRequest } from './scenarios/Scenario';
import { SeededRandom } from './SeededRandom';
import { GOAL_USERS, settings } from './settings';

/** A row of the table and of `results.json`; times are in milliseconds. */
export interface Row {
  /** Name of the scenario. */
  readonly name: string;
  /** Number of users in the realm. */
  readonly people: number;
  /** Constant, for comparison with older results. */
  readonly reads: 'replica';
  readonly mode: Mode;
  /** Number of connections under load. */
  readonly connections: number;
  /** Requests per second under load: mean, minimum and maximum of the rounds. */
  readonly rps: number;
  readonly rps_min: number;
  readonly rps_max: number;
  /** Rate of a plain `node:http` server with a constant response. */
  readonly limit_rps: number | null;
  /** Rate of a Backstage route with a constant response. */
  readonly route_rps: number | null;
  /**
   * Half the width of the 95 % confidence interval of `rps / route_rps`; not in
   * older results.
   */
  readonly route_margin?: number | null;
  /** Latency on one connection. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Number of latency samples. */
  readonly samples: number;
  /** Latency under load, including the time in queues. */
  readonly load_p50_ms: number;
  readonly load_p99_ms: number;
  /** Median of the same query with ldapts; null when LDAP lacks the data. */
  readonly ldap_p50_ms: number | null;
  /** Minimum of `rps` as a share of `route_rps`. */
  readonly goal_ratio: number | null;
  readonly goal_p50_ms: number | null;
  /** CPU time of the portal for a request under load, in microseconds. */
  readonly portal_cpu_us: number;
  /** Utilization of the portal's CPU by the portal, from 0 to 1. */
  readonly portal_cpu: number;
  /** Utilization of the portal's CPU by other processes. */
  readonly noise_cpu: number;
  /** Utilization of the other CPU. */
  readonly generator_cpu: number;
  /** 99th percentile of the delay of the portal's timers under load. */
  readonly event_loop_delay_p99_ms: number;
}

/** Resources with which rows are measured. */
interface RowsSetup {
  /** Number of users that the realm was started with. */
  readonly users: number;
  readonly directory: DirectoryClient;
  readonly people: People;
  readonly portal: Portal;
  readonly loop: ClosedLoop;
  readonly limits: Limits;
  /** Credentials of each measured mode. */
  readonly credentials: readonly Credentials[];
  readonly scenarios: readonly Scenario[];
  /** Folder for a CPU profile of each row. */
  readonly profileTo?: string;
  readonly signal: AbortSignal;
  /** Called after each row. */
  readonly onRow: (row: Row) => void;
}

/** Margin on the number of credentials of the fastest round so far. */
const HEADROOM = 1.3;
const FIRST_CREDENTIALS = 1000;

/** Results of a round under load and a round on one connection. */
interface Round {
  readonly loaded: Sample;
  readonly single: Sample;
  /** Measurements under load. */
  readonly portalCpuMs: number;
  readonly noise: number;
  readonly generatorCpu: number;
  readonly eventLoopDelayMs: number;
}

/** The measurement of one scenario in one mode. */
class RowMeasurement {
  readonly #setup: RowsSetup;
  readonly #scenario: Scenario;
  readonly #credentials: Credentials;
  readonly #random = new SeededRandom(settings.seed);

  constructor(setup: RowsSetup, scenario: Scenario, credentials: Credentials) {
    this.#setup = setup;
    this.#scenario = scenario;
    this.#credentials = credentials;
  }

  async warmUp(): Promise<void> {
    await this.#prepare(settings.warmUpRequests);
    await this.#run(settings.connections, settings.warmUpMs);
  }

  /**
   * Alternates between rounds on one connection, rounds under load, and rounds
   * of constant responses, so that other work on the machine affects all of
   * them, until the ratio of the rates is known well enough.
   */
  async measure(ldapMs: number | null): Promise<Row> {
    const { portal, limits, profileTo, signal } = this.#setup;
    await this.#prepare(FIRST_CREDENTIALS);
    // The first request fills caches.
    await this.#run(1, 1);
    const connections = connectionsFor(await this.#run(1, settings.singleMs));
    const warm = await this.#run(connections, settings.warmUpMs);
    const reference = {
      credentials: this.#credentials,
      connections,
      signal,
      bytes: warm.bytes / warm.requests,
      form: this.#next(this.#credentials.usernames[0]).form,
    };
    const rounds: Round[] = [];
    const references: ReferenceRates[] = [];
    let fastest = rate(warm);
    if (profileTo) {
      await portal.startProfile();
    }
    const { minRounds, maxRounds, maxMargin } = settings;
    while (
      rounds.length < minRounds ||
      (rounds.length < maxRounds &&
        (routeMargin(rounds, references) ?? 0) > maxMargin)
    ) {
      const seconds = (settings.loadMs + settings.singleMs) / 1000;
      await this.#prepare(Math.ceil(fastest * seconds * HEADROOM));
      const single = await this.#run(1, settings.singleMs);
      const load = await this.#runUnderLoad(connections);
      fastest = Math.max(fastest, rate(load.loaded));
      if (!profileTo) {
        references.push(await limits.measure(reference));
      }
      rounds.push({ ...load, single });
    }
    if (profileTo) {
      await portal.stopProfile(await this.#profileFile(profileTo));
    }
    return summarizeRow({
      users: this.#setup.users,
      scenario: this.#scenario,
      mode: this.#credentials.mode,
      people: this.#setup.people.all.length,
      connections,
      rounds,
      references,
      ldapMs,
    });
  }

  async #prepare(count: number): Promise<void> {
    const { usernames } = this.#credentials;
    await this.#scenario.prepare?.({ usernames, count });
    await this.#credentials.prepare(count);
  }

  #next(username: string): ScenarioRequest {
    return this.#scenario.next(this.#random, username);
  }

  #run(connections: number, ms: number): Promise<Sample> {
    const { loop, signal } = this.#setup;
    return loop.run({
      credentials: this.#credentials,
      next: username => this.#next(username),
      connections,
      ms,
      signal,
    });
  }

  async #runUnderLoad(connections: number): Promise<Omit<Round, 'single'>> {
    const { portal } = this.#setup;
    await portal.vitals();
    const portalMeter = new CpuMeter(settings.portalCpu);
    const generatorMeter = new CpuMeter(settings.generatorCpu);
    const loaded = await this.#run(connections, settings.loadMs);
    const busy = portalMeter.lap();
    const generatorCpu = generatorMeter.lap();
    const { cpuMs, eventLoopDelayMs } = await portal.vitals();
    const portalCpu = cpuMs / 1000 / loaded.seconds;
    return {
      loaded,
      portalCpuMs: cpuMs,
      noise: Math.max(0, busy - portalCpu),
      generatorCpu,
      eventLoopDelayMs,
    };
  }

  async #profileFile(folder: string): Promise<string> {
    await mkdir(folder, { recursive: true });
    const title = `${this.#credentials.mode}-${this.#scenario.name}`;
    const name = title.replace(/[^\w]+/g, '-').replace(/-+$/, '');
    return resolve(join(folder, `${name}.cpuprofile`));
  }
}

/** Measures a row for each scenario in each of its modes. */
export async function measureRows(setup: RowsSetup): Promise<readonly Row[]> {
  const pairs = setup.scenarios.flatMap(scenario =>
    setup.credentials
      .filter(({ mode }) => (scenario.modes ?? ['negotiate']).includes(mode))
      .map(credentials => ({ scenario, credentials })),
  );
  // All code is compiled before the first row is measured.
  for (const { scenario, credentials } of pairs) {
    await new RowMeasurement(setup, scenario, credentials).warmUp();
  }
  const ldapTimes = new Map<string, number | null>();
  const rows: Row[] = [];
  for (const { scenario, credentials } of pairs) {
    const { name } = scenario;
    const ldapMs = ldapTimes.get(name) ?? (await measureLdap(setup, scenario));
    ldapTimes.set(name, ldapMs);
    const measurement = new RowMeasurement(setup, scenario, credentials);
    const row = await measurement.measure(ldapMs);
    rows.push(row);
    setup.onRow(row);
  }
  return rows;
}

function connectionsFor({ latencies }: Sample): number {
  const most = Math.floor(settings.maxQueueMs / milliseconds(latencies, 50));
  return Math.min(settings.connections, Math.max(1, most));
}

/** Returns the median in milliseconds, or `null` when LDAP lacks the data. */
async function measureLdap(
  setup: RowsSetup,
  scenario: Scenario,
): Promise<number | null> {
  const { directory, people, signal } = setup;
  const random = new SeededRandom(settings.seed);
  const latencies = await queryLdap({
    directory,
    signal,
    next: () => scenario.next(random, random.pick(people.usernames)),
    ms: settings.directMs,
    atLeast: settings.directTimes,
  });
  return latencies ? milliseconds(latencies, 50) : null;
}

/**
 * Sends the LDAP queries of a scenario to the directory server sequentially.
 *
 * @returns nanoseconds, or `undefined` when the scenario has no LDAP query
 * @throws Error when a result does not have the expected number of entries
 */
export async function queryLdap(options: {
  readonly directory: DirectoryClient;
  readonly next: () => ScenarioRequest;
  /** Minimum duration and number of queries. */
  readonly ms: number;
  readonly atLeast: number;
  readonly signal: AbortSignal;
}): Promise<RecordableHistogram | undefined> {
  const { directory, next, ms, atLeast, signal } = options;
  const latencies = createHistogram();
  const start = performance.now();
  while (latencies.count < atLeast || performance.now() - start < ms) {
    signal.throwIfAborted();
    const { path, ldap } = next();
    if (!ldap) {
      return undefined;
    }
    const sentAt = process.hrtime.bigint();
    const { length } = await ldap.query(directory);
    latencies.record(process.hrtime.bigint() - sentAt);
    if (length !== ldap.entries) {
      throw new Error(
        `The directory returned ${length} entries instead of ${ldap.entries} for ${path}`,
      );
    }
  }
  return latencies;
}

function summarizeRow(options: {
  readonly users: number;
  readonly scenario: Scenario;
  readonly mode: Mode;
  readonly people: number;
  readonly connections: number;
  readonly rounds: readonly Round[];
  readonly references: readonly ReferenceRates[];
  readonly ldapMs: number | null;
}): Row {
  const { scenario, mode, people, connections, rounds, references } = options;
  const goal = scenario.goals?.[mode];
  const middle = (value: (round: Round) => number) => median(rounds.map(value));
  const referenceRate = (name: keyof ReferenceRates) =>
    references.length === 0 ? null : mean(references.map(each => each[name]));
  const rates = rounds.map(({ loaded }) => rate(loaded));
  const loaded = merge(rounds.map(round => round.loaded.latencies));
  const single = merge(rounds.map(round => round.single.latencies));
  return {
    name: scenario.name,
    people,
    reads: 'replica',
    mode,
    connections,
    rps: mean(rates),
    rps_min: Math.min(...rates),
    rps_max: Math.max(...rates),
    limit_rps: referenceRate('limit'),
    route_rps: referenceRate('route'),
    route_margin: routeMargin(rounds, references),
    p50_ms: milliseconds(single, 50),
    p99_ms: milliseconds(single, 99),
    samples: single.count,
    load_p50_ms: milliseconds(loaded, 50),
    load_p99_ms: milliseconds(loaded, 99),
    ldap_p50_ms: options.ldapMs,
    goal_ratio: goal?.ratio ?? null,
    goal_p50_ms: options.users === GOAL_USERS ? (goal?.p50Ms ?? null) : null,
    portal_cpu_us: mean(
      rounds.map(each => (1000 * each.portalCpuMs) / each.loaded.requests),
    ),
    portal_cpu: middle(
      round => round.portalCpuMs / 1000 / round.loaded.seconds,
    ),
    noise_cpu: middle(({ noise }) => noise),
    generator_cpu: middle(({ generatorCpu }) => generatorCpu),
    event_loop_delay_p99_ms: middle(({ eventLoopDelayMs }) => eventLoopDelayMs),
  };
}

/** Returns `null` when the route is not measured. */
function routeMargin(
  rounds: readonly Round[],
  references: readonly ReferenceRates[],
): number | null {
  return references.length === 0
    ? null
    : ratioMargin(
        references.map(({ route }, at) => [rate(rounds[at].loaded), route]),
      );
}

/**
 * Returns the mean of rates or CPU times. The median would favor the
 * references, whose windows are shorter and therefore more often undisturbed.
 */
function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number) / numbers.length;
}

function merge(histograms: readonly RecordableHistogram[]) {
  const merged = createHistogram();
  histograms.forEach(histogram => merged.add(histogram));
  return merged;
}
