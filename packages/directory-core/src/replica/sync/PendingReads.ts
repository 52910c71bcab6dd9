import type { EntryRef } from '../tables/entries';

/** Entries to read again, because the tables may differ from the directory. */
export interface PendingRead {
  /** Earliest time of the read, from `performance.now()`. */
  readonly at: number;
  /** Returns the entries, as of the read. */
  readonly refs: () => readonly EntryRef[];
}

/** Entries to read with the next poll or later. */
export class PendingReads {
  #reads: PendingRead[] = [];

  /** Adds entries. By default, they are due at once. */
  add(refs: PendingRead['refs'], delayMs = 0): void {
    this.#reads.push({ at: performance.now() + delayMs, refs });
  }

  /** Returns what is due, in order. */
  due(): readonly PendingRead[] {
    const now = performance.now();
    return this.#reads.filter(({ at }) => at <= now);
  }

  /** Records that these entries were read. */
  clear(reads: readonly PendingRead[]): void {
    const done = new Set(reads);
    this.#reads = this.#reads.filter(each => !done.has(each));
  }
}
