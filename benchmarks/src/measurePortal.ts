import { ClosedLoop } from './ClosedLoop';
import {
  SessionCredentials,
  tokenCredentials,
  type Credentials,
  type Mode,
} from './credentials/credentials';
import { Limits } from './limits';
import { measureRows, type Row } from './measureRows';
import { Portal, type Memory, type PortalVariant } from './portal/Portal';
import { certificateScenarios } from './scenarios/certificates';
import { groupScenarios } from './scenarios/groups';
import type { ScenarioRequest } from './scenarios/Scenario';
import { searchScenarios } from './scenarios/searches';
import { userScenarios } from './scenarios/users';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import type { MeasuredRealm } from './withRealm';
import {
  measureWriteVisibility,
  type WriteVisibility,
} from './writeVisibility';

/** Measurements of one portal; part of `results.json`. */
export interface PortalResult {
  readonly variant: PortalVariant;
  /** `null` without the directory plugin. */
  readonly start: StartResult | null;
  /** Number of requests before `memoryAfterLoad`. */
  readonly requests: number;
  readonly memoryAtStart: Memory;
  readonly memoryAfterLoad: Memory;
  /** `null` when no writes were made. */
  readonly ages: WriteVisibility | null;
}

/** Times since the start of the portal's process. */
interface StartResult {
  /** First correct response about a user. */
  readonly firstResponseMs: number;
  /** End of the replica's first sync. */
  readonly syncedMs: number;
  /**
   * Delay of the event loop's timers, 99th percentile, from the time when all
   * plugins have started to the end of the sync.
   */
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
}

/** Options of a run. */
export interface RunOptions {
  /** Number of users in the realm. */
  readonly users: number;
  /**
   * Pattern for the names of measured scenarios, and for `promises`: the times
   * until writes are visible.
   */
  readonly only: RegExp;
  readonly modes: readonly Mode[];
  /** Folder for a CPU profile of each row; nothing else is measured then. */
  readonly profileTo?: string;
  readonly signal: AbortSignal;
  readonly onRow: (row: Row) => void;
}

/** User name of the guest in app-config.benchmarks.yaml. */
const GUEST = 'alice';
/** Number of SPNEGO tokens for the requests during a start of half a minute. */
const START_TICKETS = 500;

/**
 * Starts a portal and measures its start, the rows, the visibility of writes
 * and the memory.
 *
 * @throws Error when a response is wrong or the portal does not start
 */
export async function measurePortal(
  measured: MeasuredRealm,
  options: RunOptions,
): Promise<{ readonly rows: readonly Row[]; readonly result: PortalResult }> {
  const { realm, people, tickets } = measured;
  const { only, modes, profileTo, signal } = options;
  await tickets.prepare(START_TICKETS);
  const portal = await Portal.start({ realm, variant: 'replica' });
  const { origin } = portal;
  const loop = new ClosedLoop({ origin, connections: settings.connections });
  let limits: Limits | undefined;
  try {
    const start = await measureStart({ portal, loop, ...measured }, signal);
    await portal.untilIdle(signal);
    limits = await Limits.start(realm, portal);
    const memoryAtStart = await portal.memory();
    const token = tokenCredentials(await portal.token(), GUEST);
    const sessions = new SessionCredentials(origin, tickets);
    const scenarios = [
      ...userScenarios(people),
      ...groupScenarios(people),
      ...searchScenarios(people, new SeededRandom(settings.seed)),
      ...certificateScenarios(portal, GUEST),
    ];
    const rows = await measureRows({
      ...measured,
      ...options,
      portal,
      loop,
      limits,
      credentials: [sessions, tickets, token].filter(({ mode }) =>
        modes.includes(mode),
      ),
      scenarios: scenarios.filter(({ name }) => only.test(name)),
    });
    const ages =
      profileTo || !only.test('promises')
        ? null
        : await measureWriteVisibility({
            realm,
            origin,
            loop,
            credentials: token,
            sessions,
            background: [userScenarios(people)[0], groupScenarios(people)[0]],
            signal,
          });
    return {
      rows,
      result: {
        variant: 'replica',
        start,
        memoryAtStart,
        requests: loop.requests,
        memoryAfterLoad: await portal.memory(),
        ages,
      },
    };
  } finally {
    await loop.close();
    await limits?.stop();
    await portal.stop();
  }
}

/**
 * Measures the times until the first correct response and the end of the first
 * sync.
 */
async function measureStart(
  {
    portal,
    loop,
    people,
    tickets,
  }: MeasuredRealm & { readonly portal: Portal; readonly loop: ClosedLoop },
  signal: AbortSignal,
): Promise<StartResult> {
  const [user] = userScenarios(people);
  const random = new SeededRandom(settings.seed);
  const sinceStart = () => performance.now() - portal.startedAt;
  async function untilCorrect() {
    await portal.until(async () => {
      await tickets.prepare(1);
      const { requests } = await loop.run({
        credentials: tickets,
        next: username => user.next(random, username),
        connections: 1,
        ms: 1,
        signal,
      });
      return requests > 0;
    }, signal);
    return sinceStart();
  }
  async function untilSynced() {
    await portal.untilStarted(signal);
    await portal.vitals();
    await portal.untilSynced(signal);
    const { eventLoopDelayMs, maxEventLoopDelayMs } = await portal.vitals();
    return {
      syncedMs: sinceStart(),
      loopDelayMs: eventLoopDelayMs,
      maxLoopDelayMs: maxEventLoopDelayMs,
    };
  }
  const [firstResponseMs, sync] = await Promise.all([
    untilCorrect(),
    untilSynced(),
  ]);
  return { firstResponseMs, ...sync };
}

/**
 * Requests to the server without the plugin. One in thirty reads a page of 40
 * catalog entities, which creates garbage similar to that of the plugin's
 * responses.
 */
const WITHOUT_PLUGIN: readonly ScenarioRequest[] = [
  { path: '/api/catalog/entities/by-query?limit=40', expected: ['"items"'] },
  ...Array(29).fill({
    path: '/.backstage/health/v1/readiness',
    expected: ['"ok"'],
  }),
];

/** Measures the memory of the same server without the directory plugin. */
export async function measureWithoutPlugin(
  { realm }: MeasuredRealm,
  options: {
    /** Number of requests before the second measurement. */
    readonly requests: number;
    readonly signal: AbortSignal;
  },
): Promise<PortalResult> {
  const { requests, signal } = options;
  const portal = await Portal.start({ realm, variant: 'none' });
  const loop = new ClosedLoop({
    origin: portal.origin,
    basePath: '',
    connections: settings.connections,
  });
  try {
    await portal.untilReady(signal);
    const memoryAtStart = await portal.memory();
    const token = tokenCredentials(await portal.token(), GUEST);
    let sent = 0;
    const credentials: Credentials = {
      ...token,
      next: () => (sent < requests ? token.next() : undefined),
    };
    await loop.run({
      credentials,
      next: () => WITHOUT_PLUGIN[sent++ % WITHOUT_PLUGIN.length],
      connections: settings.connections,
      ms: Infinity,
      signal,
    });
    return {
      variant: 'none',
      start: null,
      memoryAtStart,
      requests,
      memoryAfterLoad: await portal.memory(),
      ages: null,
    };
  } finally {
    await loop.close();
    await portal.stop();
  }
}
