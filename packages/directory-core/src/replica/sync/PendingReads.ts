import type { EntryRef } from '../tables/entries';

/** Entries to read again, because the tables may differ from the directory. */
export interface PendingRead {
  /** Returns the entries, as of the read. */
  readonly refs: () => readonly EntryRef[];
  /** Delay of the read in milliseconds. Default: none. */
  readonly delayMs?: number;
  /** Called with those of the entries that differed. Default: no-op. */
  readonly onCorrected?: (refs: readonly EntryRef[]) => void;
}

interface TimedRead extends PendingRead {
  /** Earliest time of the read, from `performance.now()`. */
  readonly at: number;
}

/** Entries to read with the next poll or later. */
export class PendingReads {
  #reads: TimedRead[] = [];

  add(read: PendingRead): void {
    const { delayMs = 0 } = read;
    this.#reads.push({ ...read, at: performance.now() + delayMs });
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
