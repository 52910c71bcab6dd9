import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { ReplicaIds } from './ReplicaSource';
import {
  type EntryRef,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
  replicaKinds,
} from '../tables/entries';

/** Number of entries to write before yielding to the event loop. */
const ENTRIES_PER_SLICE = 200;

/** Number of stable IDs to compare before yielding to the event loop. */
const IDS_PER_SLICE = 5000;

/** Differences between the tables and the directory. */
export class TableCheck {
  readonly #tables: ReplicaTables;
  readonly #prepare: (batch: ReplicaBatch) => ReplicaBatch;
  /** Differences by kind and stable ID. */
  readonly #found = {
    users: new Map<string, ReadEntry>(),
    groups: new Map<string, ReadEntry>(),
    agreements: new Map<string, ReadEntry>(),
  };

  /** @param prepare - changes entries as they are changed before a write */
  constructor(
    tables: ReplicaTables,
    prepare: (batch: ReplicaBatch) => ReplicaBatch,
  ) {
    this.#tables = tables;
    this.#prepare = prepare;
  }

  /** The entries that differ. */
  get refs(): readonly EntryRef[] {
    return replicaKinds.flatMap(kind =>
      [...this.#found[kind].keys()].map(id => ({ kind, id })),
    );
  }

  /** Compares entries that were read; the last read of an entry counts. */
  compare(batch: ReplicaBatch): void {
    const { kind, entries } = this.#prepare(batch);
    for (const read of entries) {
      if (this.#differs(kind, read)) {
        this.#found[kind].set(read.id, read);
      } else {
        this.#found[kind].delete(read.id);
      }
    }
  }

  /**
   * Finds entries of the tables that are not among these, and forgets others
   * that are not: a read that started again may have returned them before.
   *
   * @returns the entries of the tables that are missing
   */
  async findDeleted(ids: ReplicaIds): Promise<readonly EntryRef[]> {
    const deleted: EntryRef[] = [];
    for (const kind of replicaKinds) {
      await forEachMissing(this.#found[kind].keys(), ids[kind], id =>
        this.#found[kind].delete(id),
      );
      await forEachMissing(this.#tables[kind].ids(), ids[kind], id => {
        this.#found[kind].set(id, { id, key: '', entry: undefined });
        deleted.push({ kind, id });
      });
    }
    return deleted;
  }

  /** Yields the entries to write in slices. */
  *differences(): Iterable<ReplicaBatch> {
    for (const kind of replicaKinds) {
      const found = [...this.#found[kind].values()];
      for (let at = 0; at < found.length; at += ENTRIES_PER_SLICE) {
        const entries = found.slice(at, at + ENTRIES_PER_SLICE);
        yield { kind, entries } as ReplicaBatch;
      }
    }
  }

  #differs(kind: ReplicaKind, { id, key, entry }: ReadEntry<any>): boolean {
    if (kind === 'agreements') {
      return this.#tables.agreements.differs(id, entry);
    }
    const table = this.#tables[kind];
    const current = table.keyOf(id);
    return entry
      ? current !== key || table.differs(key, entry)
      : current !== undefined;
  }
}

/** Number of entries of each kind that has any. */
export type EntryCountsByKind = Partial<Record<ReplicaKind, number>>;

/** Counts entries by kind. */
export function countByKind(refs: readonly EntryRef[]): EntryCountsByKind {
  const counts: EntryCountsByKind = {};
  for (const { kind } of refs) {
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/**
 * Calls a function for each ID that is not in a set. Yields to the event loop
 * in between.
 */
export async function forEachMissing(
  ids: Iterable<string>,
  present: Pick<ReadonlySet<string>, 'has'>,
  onMissing: (id: string) => void,
): Promise<void> {
  let compared = 0;
  for (const id of ids) {
    if (!present.has(id)) {
      onMissing(id);
    }
    if (++compared % IDS_PER_SLICE === 0) {
      await nextTurn();
    }
  }
}
