/** Limits of a portal. */
export interface WayGoals {
  readonly firstAnswerMs: number;
  readonly copiedMs: number;
  /** 99th percentile while it copies. */
  readonly loopDelayMs: number;
  /** After load, more than the same server without the plugin. */
  readonly memoryBytes: number;
  /** 99th percentile until a write shows. */
  readonly ageMs: number;
}

const MEGABYTE = 1e6;
const GOALS = { firstAnswerMs: 5000, loopDelayMs: 20, ageMs: 1000 };

/** By the size of realm for which they were set. */
const BY_PEOPLE: ReadonlyMap<number, WayGoals> = new Map([
  [20_000, { ...GOALS, copiedMs: 8000, memoryBytes: 120 * MEGABYTE }],
  [100_000, { ...GOALS, copiedMs: 40_000, memoryBytes: 450 * MEGABYTE }],
]);

/** The goals for a realm of this size, if there are any. */
export function wayGoals(people: number): WayGoals | undefined {
  return BY_PEOPLE.get(people);
}
