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

/** Number of stable IDs to compare before yielding to the event loop. */
const IDS_PER_SLICE = 5000;

/** Differences between the tables and the directory. */
export class TableCheck {
  readonly #tables: ReplicaTables;
  readonly #prepare: (batch: ReplicaBatch) => ReplicaBatch;
  /** Differences by kind and stable ID; a missing entry has no key. */
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

  /** The entries of the tables that the directory does not have. */
  get missing(): readonly EntryRef[] {
    return this.refs.filter(ref => this.get(ref)!.key === '');
  }

  /** The entries of the tables that the directory has, but not to replicate. */
  get unreplicated(): readonly EntryRef[] {
    return this.refs.filter(ref => {
      const { key, entry } = this.get(ref)!;
      return key !== '' && !entry;
    });
  }

  /** The entries to delete: those that are missing or no longer replicated. */
  get deleted(): readonly EntryRef[] {
    return this.refs.filter(ref => !this.get(ref)!.entry);
  }

  /** Returns an entry that differs. */
  get({ kind, id }: EntryRef): ReadEntry | undefined {
    return this.#found[kind].get(id);
  }

  /** Compares entries that were read; the last read of an entry counts. */
  compare(batch: ReplicaBatch): void {
    const { kind, entries } = this.#prepare(batch);
    const { unreplicated } = this.#tables;
    for (const read of entries) {
      if (read.entry) {
        unreplicated.delete(read.id);
      } else {
        unreplicated.add(read.id);
      }
      if (this.#differs(kind, read)) {
        this.#found[kind].set(read.id, read);
      } else {
        this.#found[kind].delete(read.id);
      }
    }
  }

  /** Records that the directory does not have an entry. */
  recordMissing(ref: EntryRef): void {
    const { kind, id } = ref;
    if (this.#tables.has(ref)) {
      this.#found[kind].set(id, { id, key: '', entry: undefined });
    } else {
      this.#found[kind].delete(id);
    }
  }

  /**
   * Takes the missing entries that are among these: a search can miss an entry.
   */
  takeListed(ids: ReplicaIds): readonly EntryRef[] {
    const listed = this.missing.filter(({ kind, id }) => ids[kind].has(id));
    listed.forEach(({ kind, id }) => this.#found[kind].delete(id));
    return listed;
  }

  /** Finds entries that are not among these. */
  async findDeleted(ids: ReplicaIds): Promise<void> {
    for (const kind of replicaKinds) {
      const known = [this.#tables[kind].ids(), this.#found[kind].keys()];
      for (const some of known) {
        await forEachMissing(some, ids[kind], id =>
          this.recordMissing({ kind, id }),
        );
      }
    }
  }

  /** Yields the entries one by one, deletions first. */
  *differences(): Iterable<ReplicaBatch> {
    const isDeleted = (ref: EntryRef) => !this.get(ref)!.entry;
    const { refs } = this;
    for (const ref of [
      ...refs.filter(isDeleted),
      ...refs.filter(each => !isDeleted(each)),
    ]) {
      const { kind } = ref;
      yield { kind, entries: [this.get(ref)] } as ReplicaBatch;
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
type EntryCountsByKind = Partial<Record<ReplicaKind, number>>;

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
