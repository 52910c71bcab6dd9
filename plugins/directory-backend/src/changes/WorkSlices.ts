import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time after which long work yields to the event loop. */
const SLICE_MS = 2;

/** Divides long work into slices, between which requests are served. */
export class WorkSlices {
  #endsAt = performance.now() + SLICE_MS;

  /** Ends the slice if it is over. Call it before each item. */
  async next(): Promise<void> {
    if (performance.now() >= this.#endsAt) {
      await nextTurn();
      this.#endsAt = performance.now() + SLICE_MS;
    }
  }
}
