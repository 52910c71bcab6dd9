import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GroupEntry } from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  type ReplicaBatch,
  type ReplicaKeys,
  replicaKinds,
} from './ReplicaSource';
import {
  type EntryTable,
  forEachMissing,
  type Restrict,
  TableCheck,
} from './TableCheck';

/** Number of members to write before yielding to the event loop. */
const MEMBERS_PER_SLICE = 2500;

/** Longer than any read that was started before an entry was deleted. */
const DELETION_MEMORY_MS = 10 * 60_000;

/** Writes entries to the tables, unless they were deleted after the read. */
export class TableWriter {
  readonly #tables: ReplicaTables;
  readonly #restrict: Restrict;
  readonly #onWrite: (keys: readonly string[]) => void;
  /** Times of deletions by key, oldest first. */
  readonly #deleted = new Map<string, number>();
  readonly #checks = new Set<TableCheck>();
  /** Start of the latest sync that writes in slices. */
  #slicedSyncAt = -Infinity;

  constructor(options: {
    readonly tables: ReplicaTables;
    /** Applied to all entries. Default: no restriction. */
    readonly restrict?: Restrict;
    /** Called with the keys in the same turn as each write. Default: no-op. */
    readonly onWrite?: (keys: readonly string[]) => void;
  }) {
    this.#tables = options.tables;
    this.#restrict = options.restrict ?? (batch => batch);
    this.#onWrite = options.onWrite ?? (() => {});
  }

  /** Starts a check. Writes are reported to it until {@link endCheck}. */
  startCheck(): TableCheck {
    const check = new TableCheck(this.#tables, this.#restrict);
    this.#checks.add(check);
    return check;
  }

  endCheck(check: TableCheck): void {
    this.#checks.delete(check);
  }

  /** Writes entries that were requested at a time from `performance.now()`. */
  write(batch: ReplicaBatch, requestedAt: number): void {
    if (batch.kind !== 'groups') {
      return this.#write(batch, requestedAt);
    }
    const entries = batch.entries.map(
      ([key, group]) => [key, group && this.#shareNames(key, group)] as const,
    );
    return this.#write({ kind: 'groups', entries }, requestedAt);
  }

  /**
   * Like {@link write}, but yields to the event loop between slices of a large
   * group, which has only some of its members in the meantime. Only for a sync
   * during which the tables are not read.
   */
  async writeInSlices(batch: ReplicaBatch, requestedAt: number): Promise<void> {
    this.#slicedSyncAt = requestedAt;
    if (batch.kind !== 'groups') {
      return this.write(batch, requestedAt);
    }
    const shared = (name: string) => this.#sharedName(name);
    for (const [key, group] of batch.entries) {
      const sponsors = group?.sponsors.map(shared) ?? [];
      let members: readonly string[] = [];
      for (const slice of slicesOf(group?.members ?? [])) {
        members = members.concat(slice.map(shared));
        const entry = group && { ...group, members, sponsors };
        this.#write({ kind: 'groups', entries: [[key, entry]] }, requestedAt);
        await nextTurn();
        if (this.#slicedSyncAt !== requestedAt) {
          // This sync failed and another sync has started.
          return undefined;
        }
      }
    }
    return undefined;
  }

  /** Deletes all entries that are not among these keys. */
  async retainOnly(keys: Omit<ReplicaKeys, 'server'>): Promise<void> {
    for (const kind of replicaKinds) {
      const table = this.#tables[kind];
      await forEachMissing(table.keys(), keys[kind], key => table.delete(key));
    }
  }

  /** Deletes an entry. Reads that were started earlier do not restore it. */
  delete(key: string): void {
    const now = performance.now();
    for (const check of this.#checks) {
      check.recordWrite(key);
    }
    for (const kind of replicaKinds) {
      this.#tables[kind].delete(key);
    }
    for (const [other, at] of this.#deleted) {
      if (now - at < DELETION_MEMORY_MS) {
        break;
      }
      this.#deleted.delete(other);
    }
    this.#deleted.delete(key);
    this.#deleted.set(key, now);
    this.#onWrite([key]);
  }

  #write(batch: ReplicaBatch, requestedAt: number): void {
    const { kind, entries } = this.#restrict(batch);
    const table: EntryTable = this.#tables[kind];
    for (const [key, entry] of entries) {
      for (const check of this.#checks) {
        check.recordWrite(key);
      }
      if ((this.#deleted.get(key) ?? -Infinity) < requestedAt) {
        if (entry) {
          table.set(key, entry);
        } else {
          table.delete(key);
        }
      }
    }
    this.#onWrite(entries.map(([key]) => key));
  }

  /** Replaces names with the strings of the user table, to save memory. */
  #shareNames(key: string, group: GroupEntry): GroupEntry {
    const old = this.#tables.groups.graph.get(key);
    const shared = (name: string) => this.#sharedName(name);
    return {
      ...group,
      members: shareNames(group.members, old?.members ?? [], shared),
      sponsors: shareNames(group.sponsors, old?.sponsors ?? [], shared),
    };
  }

  #sharedName(name: string): string {
    return this.#tables.users.served.get(name)?.key ?? name;
  }
}

/** Yields at least one slice, which may be empty. */
function* slicesOf(names: readonly string[]): Iterable<readonly string[]> {
  let start = 0;
  do {
    yield names.slice(start, start + MEMBERS_PER_SLICE);
    start += MEMBERS_PER_SLICE;
  } while (start < names.length);
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
