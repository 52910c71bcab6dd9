import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum duration in milliseconds; long, because a passing check ends it. */
const MAX_MS = 180_000;

/** Repeats a check until it passes; rejects with its last failure. */
export async function eventually(check: () => unknown): Promise<void> {
  const endsAt = Date.now() + MAX_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() >= endsAt) {
        throw error;
      }
      await sleep(50);
    }
  }
}
