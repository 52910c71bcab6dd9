import { dirname } from 'node:path';

/** Settings of each run, which are part of its results. */
export const settings = Object.freeze({
  /** CPU of the portal and of the limit server. */
  portalCpu: 0,
  /** CPU of the load generator, the directory server and the KDC. */
  generatorCpu: 1,
  /** Persistent connections under load, with one request at a time on each. */
  connections: 16,
  /**
   * Maximum time in milliseconds that a request waits for earlier ones: slow
   * scenarios use fewer connections.
   */
  maxQueueMs: 1000,
  /** Minimum and maximum number of rounds of a row. */
  minRounds: 8,
  maxRounds: 30,
  /**
   * Rounds are repeated until the 95 % confidence interval of the share of the
   * route's rate is at most this far from the share on each side.
   */
  maxMargin: 0.05,
  /** Duration of a round under load, in milliseconds. */
  loadMs: 800,
  /** Duration of a round on one connection, in milliseconds. */
  singleMs: 300,
  /** Duration of a measurement of the limit or the route, in milliseconds. */
  limitMs: 300,
  /** Duration of a warm-up, in milliseconds. */
  warmUpMs: 600,
  /** Number of credentials that are prepared for a warm-up. */
  warmUpRequests: 1500,
  /** Minimum duration of the LDAP queries of a scenario, in milliseconds. */
  directMs: 600,
  /** Minimum number of the LDAP queries of a scenario. */
  directTimes: 3,
  /** Number of writes whose visibility is measured. */
  writes: 240,
  /** Number of callers whose accounts are locked. */
  lockedCallers: 20,
  /** Number of users who are preserved, as by `ipa user-del --preserve`. */
  preservedUsers: 10,
  /** Number of connections under load during these writes. */
  connectionsWhileWritten: 4,
  /** Number of certificates that are read by serial number. */
  certificates: 500,
  /**
   * Number of users who send requests, so that no user has thousands of
   * certificates at the end of a run.
   */
  callers: 160,
  /** Seed of the random parameters. */
  seed: 1,
});

/** Number of users for which the time goals are set. */
export const GOAL_USERS = 20_000;

/** Folder of this package, which runs from its sources. */
export const BENCHMARKS = dirname(
  require.resolve('@directory-gateway/benchmarks/package.json'),
);
