import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  EntryRef,
  GroupEntry,
  ReadEntry,
  ReplicaBatch,
  ReplicaKind,
} from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import { TableCheck } from './TableCheck';

/** Number of members to write before yielding to the event loop. */
const SLICE = 2500;

/** Entries that a write may have changed. */
export interface WrittenEntries {
  /** Present and former keys of users and groups. */
  readonly keys: readonly string[];
  readonly ids: readonly string[];
}

/** Options of {@link TableWriter}. */
export interface TableWriterOptions {
  readonly tables: ReplicaTables;
  /**
   * Replaces entries with stricter ones, for example with a private flag.
   * Default: no restriction.
   */
  readonly restrict?: (batch: ReplicaBatch) => ReplicaBatch;
  /** Called in the same turn as each write. Default: no-op. */
  readonly onWrite?: (written: WrittenEntries) => void;
  /**
   * Called when a user or group got another key, was deleted, or got the former
   * key of another entry. The groups that link to these keys may change without
   * a new position. Default: no-op.
   */
  readonly onRelinked?: (link: RelinkedEntry) => void;
}

/** An entry whose links may change without a new position. */
export interface RelinkedEntry {
  /** Key that the tables' links name. */
  readonly key: string;
  /** Former key of a renamed entry. */
  readonly former?: string;
  /** Whether the former key of this entry is now the key of another entry. */
  readonly hasLostFormer?: boolean;
}

/** Table of a kind of entries that have keys. */
interface KeyedTable {
  keyOf(id: string): string | undefined;
  idOf(key: string): string | undefined;
  set(key: string, entry: unknown): void;
  delete(key: string): void;
}

/** Writes entries to the tables. */
export class TableWriter {
  readonly #options: TableWriterOptions;
  readonly #tables: ReplicaTables;
  /** Start of the latest sync that writes in slices. */
  #slicedSyncAt = -Infinity;

  constructor(options: TableWriterOptions) {
    this.#options = options;
    this.#tables = options.tables;
  }

  /** Starts a comparison of the tables with entries that are read. */
  startCheck(): TableCheck {
    return new TableCheck(this.#tables, batch => this.#prepare(batch));
  }

  write(batch: ReplicaBatch): void {
    const prepared = this.#prepare(batch);
    if (prepared.kind !== 'groups') {
      return this.#write(prepared);
    }
    const entries = prepared.entries.map(read => ({
      ...read,
      entry: read.entry && this.#shareNames(read.key, read.entry),
    }));
    return this.#write({ kind: 'groups', entries });
  }

  /**
   * Like {@link write}, but yields to the event loop between slices of a large
   * group, which has only some of its members in the meantime. Only for a sync
   * during which the tables are not read.
   *
   * @param startedAt - start of the sync, from `performance.now()`
   */
  async writeInSlices(batch: ReplicaBatch, startedAt: number): Promise<void> {
    this.#slicedSyncAt = startedAt;
    for (const read of batch.kind === 'groups' ? batch.entries : []) {
      const { members = [] } = read.entry ?? {};
      for (let end = SLICE; end < members.length; end += SLICE) {
        const entry = { ...read.entry!, members: members.slice(0, end) };
        this.write({ kind: 'groups', entries: [{ ...read, entry }] });
        await nextTurn();
        if (this.#slicedSyncAt !== startedAt) {
          // This sync failed and another sync has started.
          return;
        }
      }
    }
    this.write(batch);
  }

  /** Deletes entries. */
  delete(entries: readonly EntryRef[]): void {
    for (const { kind, id } of entries) {
      const batch = { kind, entries: [{ id, key: '', entry: undefined }] };
      this.#write(batch as ReplicaBatch);
    }
  }

  #prepare(batch: ReplicaBatch): ReplicaBatch {
    const resolved = this.#tables.resolve(batch);
    return this.#options.restrict?.(resolved) ?? resolved;
  }

  #write({ kind, entries }: ReplicaBatch): void {
    const written = { keys: new Set<string>(), ids: new Set<string>() };
    for (const read of entries) {
      written.ids.add(read.id);
      this.#apply(kind, read, written);
    }
    this.#options.onWrite?.({
      keys: [...written.keys],
      ids: [...written.ids],
    });
  }

  #apply(
    kind: ReplicaKind,
    { id, key, entry }: ReadEntry<any>,
    written: { readonly keys: Set<string>; readonly ids: Set<string> },
  ): void {
    const tables = this.#tables;
    if (kind === 'agreements') {
      if (entry) {
        tables.agreements.set(id, entry);
      } else {
        tables.agreements.delete(id);
      }
      return;
    }
    const table: KeyedTable = tables[kind];
    const former = table.keyOf(id);
    if (former !== undefined) {
      written.keys.add(former);
    }
    if (!entry) {
      if (former !== undefined) {
        table.delete(former);
        tables.endAliasesOf(former);
        this.#options.onRelinked?.({ key: former });
      }
      return;
    }
    written.keys.add(key);
    if (former !== key) {
      const replaced = table.idOf(key);
      if (replaced !== undefined) {
        written.ids.add(replaced);
        table.delete(key);
        tables.endAliasesOf(key);
      }
      this.#endAlias(key);
      if (former !== undefined) {
        for (const group of tables.rename(kind, former, key)) {
          written.ids.add(tables.groups.idOf(group)!);
        }
        this.#options.onRelinked?.({ key, former });
      }
    }
    table.set(key, entry);
  }

  /** Ends the use of a key as the former key of another entry. */
  #endAlias(key: string): void {
    const renamed = this.#tables.endAlias(key);
    if (renamed !== undefined) {
      this.#options.onRelinked?.({ key: renamed, hasLostFormer: true });
    }
  }

  /** Replaces names with the strings of the user table, to save memory. */
  #shareNames(key: string, group: GroupEntry): GroupEntry {
    const old = this.#tables.groups.graph.get(key);
    const { served } = this.#tables.users;
    const shared = (name: string) => served.get(name)?.key ?? name;
    return {
      ...group,
      members: shareNames(group.members, old?.members ?? [], shared),
      sponsors: shareNames(group.sponsors, old?.sponsors ?? [], shared),
    };
  }
}

/**
 * Looks up names in the old list first: most are at the same index or the next
 * one, which is faster than a lookup in the user table.
 */
function shareNames(
  names: readonly string[],
  old: readonly string[],
  shared: (name: string) => string,
): readonly string[] {
  let at = 0;
  return names.map(name => {
    if (old[at] !== name && old[at + 1] === name) {
      at++;
    }
    return old[at] === name ? old[at++] : shared(name);
  });
}
