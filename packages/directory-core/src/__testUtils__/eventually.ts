import assert from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/**
 * Maximum duration in milliseconds. It is long because a passing check ends it.
 */
const MAX_MS = 180_000;

/** Shortest and longest pause between checks, in milliseconds. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/**
 * Repeats a check until it passes; rejects with its last failure. An expensive
 * check is repeated less often, so that it does not delay the expected state.
 */
export async function eventually(check: () => unknown): Promise<void> {
  const endsAt = Date.now() + MAX_MS;
  for (;;) {
    const startedAt = Date.now();
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() >= endsAt) {
        throw error;
      }
      const pause = 10 * (Date.now() - startedAt);
      await sleep(Math.min(Math.max(pause, MIN_PAUSE_MS), MAX_PAUSE_MS));
    }
  }
}

/**
 * Repeats a read until it returns the expected value. Unlike `toEqual` in
 * {@link eventually}, it describes the difference, which takes seconds for a
 * large value, only at the end. Both values must have the same prototypes,
 * which responses of `fetch` do not have in Jest.
 */
export async function eventuallyReturns<T>(
  read: () => Promise<T>,
  expected: T,
): Promise<void> {
  let last: T;
  try {
    await eventually(async () => {
      last = await read();
      assert(isDeepStrictEqual(last, expected));
    });
  } catch (error) {
    if (error instanceof assert.AssertionError) {
      expect(last!).toStrictEqual(expected);
    }
    throw error;
  }
}
