import { setTimeout as sleep } from 'node:timers/promises';

/** How soon work goes on after a rest, in milliseconds. */
const LOOK_MS = 20;

/** A time in which those who ask begin nothing new. */
export class Rest {
  #resting = false;

  /** Does something while they rest. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#resting = true;
    try {
      return await work();
    } finally {
      this.#resting = false;
    }
  }

  /** Waits for the end of a rest, if there is one. */
  async isOver(signal: AbortSignal): Promise<void> {
    while (this.#resting) {
      await sleep(LOOK_MS, undefined, { signal });
    }
  }
}
