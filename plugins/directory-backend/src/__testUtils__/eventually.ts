import { setTimeout as sleep } from 'node:timers/promises';

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
