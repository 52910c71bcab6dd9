import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  mapLinks,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
} from '../tables/entries';
import type { KeyedRef, ReplicaTables } from '../tables/ReplicaTables';
import { TableCheck } from './TableCheck';

/**
 * Number of group members that are written in one turn of the event loop. An
 * entry counts as several members.
 */
const MAX_MEMBERS_PER_TURN = 2500;
const MEMBERS_PER_ENTRY = 5;

/** Entries that a write may have changed. */
export interface WrittenEntries {
  /** Present and former keys of users and groups. */
  readonly keys: readonly string[];
  readonly ids: readonly string[];
}

interface TableWriterOptions {
  readonly tables: ReplicaTables;
  /**
   * Replaces entries with stricter ones, for example with a private flag.
   * Default: no restriction.
   */
  readonly restrict?: (batch: ReplicaBatch) => ReplicaBatch;
  /** Called in the same turn as each write. Default: no-op. */
  readonly onWrite?: (written: WrittenEntries) => void;
  /**
   * Called when groups that link to a user or group may change without a new
   * position. Default: no-op.
   */
  readonly onRelinked?: (entry: RelinkedEntry) => void;
}

/** An entry whose links may change without a new position. */
export interface RelinkedEntry {
  readonly ref: KeyedRef;
  /** Key that links name, unless the entry gets another one. */
  readonly key: string;
  readonly reason:
    | 'deleted'
    | 'renamed'
    /** Another entry got the former key of this renamed entry. */
    | 'replaced';
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

  constructor(options: TableWriterOptions) {
    this.#options = options;
    this.#tables = options.tables;
  }

  /** Starts a comparison of the tables with entries that are read. */
  startCheck(): TableCheck {
    return new TableCheck(this.#tables, batch => this.#prepare(batch));
  }

  /** Writes entries; deletes those that are not replicated. */
  write(batch: ReplicaBatch): void {
    this.#write(this.#shareNames(this.#prepare(batch)));
  }

  /** Like {@link write}, but prepares the entries in another turn. */
  async writeInTurns(batch: ReplicaBatch): Promise<void> {
    const prepared = this.#shareNames(this.#prepare(batch));
    await nextTurn();
    this.#write(prepared);
  }

  /**
   * Writes differences. Yields to the event loop in between, and calls a
   * function afterwards, which may throw.
   */
  async apply(check: TableCheck, afterYield: () => void): Promise<void> {
    let size = 0;
    for (const batch of check.differences()) {
      const prepared = this.#shareNames(this.#tables.resolve(batch));
      size += sizeOf(batch);
      if (size > MAX_MEMBERS_PER_TURN) {
        size = sizeOf(batch);
        await nextTurn();
        afterYield();
      }
      this.#write(prepared);
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
        this.#options.onRelinked?.({
          ref: { kind, id },
          key: former,
          reason: 'deleted',
        });
      }
      return;
    }
    written.keys.add(key);
    if (former !== key) {
      const replaced = table.idOf(key);
      if (replaced !== undefined) {
        written.ids.add(replaced);
        table.delete(key);
      }
      const ref = { kind, id };
      const renamed = tables.endAlias(key);
      if (renamed) {
        this.#options.onRelinked?.({ ref: renamed, key, reason: 'replaced' });
      }
      if (former !== undefined) {
        for (const group of tables.rename(ref, key)) {
          written.ids.add(tables.groups.idOf(group)!);
        }
        this.#options.onRelinked?.({ ref, key, reason: 'renamed' });
      }
    }
    table.set(key, entry);
  }

  /** Replaces names with the strings of the user table, to save memory. */
  #shareNames(batch: ReplicaBatch): ReplicaBatch {
    if (batch.kind !== 'groups') {
      return batch;
    }
    const { served } = this.#tables.users;
    const shared = (names: readonly string[]) =>
      names.map(name => served.get(name)?.key ?? name);
    const entries = batch.entries.map(({ entry, ...read }) => ({
      ...read,
      entry: entry && mapLinks(entry, shared),
    }));
    return { kind: 'groups', entries };
  }
}

/** Returns the size of a batch of one entry. */
function sizeOf({ entries: [{ entry }] }: ReplicaBatch): number {
  const members = entry && 'members' in entry ? entry.members.length : 0;
  return members + MEMBERS_PER_ENTRY;
}
