import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserEntry } from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  type ReplicaBatch,
  type ReplicaKeys,
  replicaKinds,
} from './ReplicaSource';

/** Number of entries to write before yielding to the event loop. */
const ENTRIES_PER_SLICE = 200;

/** Number of keys to compare before yielding to the event loop. */
const KEYS_PER_SLICE = 5000;

/** Replaces entries with stricter ones, for example with a private flag. */
export type Restrict = (batch: ReplicaBatch) => ReplicaBatch;

/**
 * Differences between the tables and the directory, which is read while the
 * tables are in use. Entries that are written in the meantime are newer than
 * those that were read, and do not count as differences.
 */
export class TableCheck {
  /** Differences by kind and key; `undefined` for a deleted entry. */
  readonly found = {
    users: new Map<string, UserEntry | undefined>(),
    groups: new Map<string, unknown>(),
    agreements: new Map<string, unknown>(),
  };
  readonly #tables: ReplicaTables;
  readonly #restrict: Restrict;
  readonly #written = new Set<string>();

  constructor(tables: ReplicaTables, restrict: Restrict) {
    this.#tables = tables;
    this.#restrict = restrict;
  }

  /** Records that an entry was written into the tables. */
  recordWrite(key: string): void {
    this.#written.add(key);
  }

  /** Compares entries that were read. */
  compare(read: ReplicaBatch): void {
    const { kind, entries } = this.#restrict(read);
    const table: EntryTable = this.#tables[kind];
    const found: Map<string, unknown> = this.found[kind];
    for (const [key, entry] of entries) {
      if (table.differs(key, entry)) {
        found.set(key, entry);
      }
    }
  }

  /**
   * Finds entries of the tables that are not among these keys.
   *
   * @returns whether there are any
   */
  async findDeleted(keys: Omit<ReplicaKeys, 'server'>): Promise<boolean> {
    let count = 0;
    for (const kind of replicaKinds) {
      count += await forEachMissing(
        this.#tables[kind].keys(),
        keys[kind],
        key => this.found[kind].set(key, undefined),
      );
    }
    return count > 0;
  }

  /** Yields the entries to write, except for those written in the meantime. */
  *differences(): Iterable<ReplicaBatch> {
    for (const kind of replicaKinds) {
      const found = [...this.found[kind]];
      for (let at = 0; at < found.length; at += ENTRIES_PER_SLICE) {
        const entries = found
          .slice(at, at + ENTRIES_PER_SLICE)
          .filter(([key]) => !this.#written.has(key));
        yield { kind, entries } as ReplicaBatch;
      }
    }
  }
}

/** A table of any kind. */
export interface EntryTable {
  differs(key: string, entry: unknown): boolean;
  set(key: string, entry: unknown): void;
  delete(key: string): void;
}

/**
 * Calls a function for each key that is not in a set. Yields to the event loop
 * in between.
 *
 * @returns the number of missing keys
 */
export async function forEachMissing(
  keys: Iterable<string>,
  present: Pick<ReadonlySet<string>, 'has'>,
  onMissing: (key: string) => void,
): Promise<number> {
  let compared = 0;
  let missing = 0;
  for (const key of keys) {
    if (!present.has(key)) {
      missing++;
      onMissing(key);
    }
    if (++compared % KEYS_PER_SLICE === 0) {
      await nextTurn();
    }
  }
  return missing;
}
