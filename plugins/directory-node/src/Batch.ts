import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Maximum number of items: keeps statements with several parameters per item
 * within the limits of the database.
 */
const MAX_ITEMS = 64;

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Combines concurrent calls, for example to write several rows with one
 * statement and one commit. While a batch runs, later calls wait for the next
 * one, so a batch always starts after the calls that it combines.
 *
 * If a batch of several items fails, it is repeated item by item, so that no
 * call fails because of another call. `run` must therefore have no effect if it
 * fails, or be idempotent.
 *
 * @public
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  /** @param run - returns the results of the items, in the same order */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  /** Returns the result of an item. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) {
        this.#isRunning = true;
        void this.#runAll();
      }
    });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      await this.#runBatch(this.#waiting.splice(0, MAX_ITEMS));
    }
    this.#isRunning = false;
  }

  /**
   * Waits until a turn of the event loop adds no call. A busy process has read
   * other requests by then; an idle one waits for some microseconds. SQLite runs
   * statements synchronously, so no calls are made while a batch runs.
   */
  async #gather(): Promise<void> {
    let count: number;
    do {
      count = this.#waiting.length;
      // The first one ends the current turn.
      await nextTurn();
      await nextTurn();
    } while (this.#waiting.length > count && count < MAX_ITEMS);
  }

  async #runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]));
    } catch (error) {
      if (batch.length === 1) {
        batch[0].reject(error);
      } else {
        await Promise.all(batch.map(waiting => this.#runBatch([waiting])));
      }
    }
  }
}
