import type { Mode } from '../credentials/Credentials';

/** Required results of a kind of request. */
export interface Goal {
  /** Requests a second under load, at least. */
  readonly rps?: number;
  /** Milliseconds, the median on one connection, at most. */
  readonly p50Ms?: number;
}

/** By the mode for which they were set, with 20,000 people. */
export type Goals = Readonly<Partial<Record<Mode, Goal>>>;

/** The size of realm for which the goals are. */
export const GOAL_PEOPLE = 20_000;

/** One entry, and what is known by its name. */
export const entryGoals: Goals = {
  session: { rps: 4000, p50Ms: 1 },
  negotiate: { rps: 2000 },
};

/** Any page of 40 of a list. */
export const pageGoals: Goals = {
  session: { rps: 1500, p50Ms: 2 },
  negotiate: { rps: 1500, p50Ms: 2 },
};

/** Searches by an exact value, a group and the presence of a field. */
export const searchGoals: Goals = { negotiate: { p50Ms: 3 } };

/** Searches by three letters. */
export const substringGoals: Goals = { negotiate: { p50Ms: 5 } };
