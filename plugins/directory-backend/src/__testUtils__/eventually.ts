import { setTimeout as sleep } from 'node:timers/promises';

/** Tries until a check passes; with its last failure when it never does. */
export async function eventually(check: () => unknown): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await check();
      return;
    } catch (error) {
      if (tries === 200) {
        throw error;
      }
      await sleep(50);
    }
  }
}
