import { setTimeout as sleep } from 'node:timers/promises';

/** Current time, deadlines and pauses, which tests control. */
export interface Clock {
  /** Returns the current time in milliseconds since 1970. */
  now(): number;
  /** Returns a signal that aborts after `ms` milliseconds. */
  timeout(ms: number): AbortSignal;
  /** Waits for `ms` milliseconds, or until `signal` aborts. */
  delay(ms: number, signal: AbortSignal): Promise<void>;
}

/** The system's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timeout: ms => AbortSignal.timeout(ms),
  delay: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};
