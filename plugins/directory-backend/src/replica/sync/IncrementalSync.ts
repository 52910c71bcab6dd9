import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  expectServer,
  type UsnsByKey,
  type ReplicaBatch,
  type ReplicaSource,
  type ReplicaPosition,
} from './ReplicaSource';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { TableWriter } from './TableWriter';

/**
 * Removed members that are re-read one by one. When a group loses more, the
 * comparison of keys (`UnreportedDeletions`) finds those that were deleted.
 */
const MAX_REMOVED_MEMBERS = 50;

/**
 * Maximum number of entries that are removed because they can no longer be
 * read. More are left to the comparison of keys, which has the mass-deletion
 * guard: the account may have lost the right to read them.
 */
const MAX_REMOVALS = 50;

/** Reads recent writes into the replica, each once. */
export class IncrementalSync {
  readonly #source: ReplicaSource;
  readonly #tables: ReplicaTables;
  readonly #writer: TableWriter;
  /** What had been listed before all of it was read. */
  #read = new Map<string, number | undefined>();
  readonly #gone = new Set<string>();

  constructor(options: {
    readonly source: ReplicaSource;
    readonly tables: ReplicaTables;
    readonly writer: TableWriter;
  }) {
    this.#source = options.source;
    this.#tables = options.tables;
    this.#writer = options.writer;
  }

  /** What was read is not in the copy any more. */
  forget(): void {
    this.#read.clear();
  }

  /**
   * An entry was heard to be gone. It may have been added again before that was
   * heard, and is to be read again if it is there.
   */
  recordDeletion(key: string): void {
    this.#gone.add(key);
  }

  /**
   * Brings the copy up to a time.
   *
   * @param fromUsn - nothing that was written under a lower number can be new
   * @returns whether entries were added or renamed
   */
  async take(
    time: ReplicaPosition,
    fromUsn: number,
  ): Promise<{ readonly hasNewKeys: boolean }> {
    const requestedAt = performance.now();
    for (const key of this.#gone) {
      this.#read.delete(key);
    }
    this.#gone.clear();
    const { server, usns } = await this.#source.listChanges(fromUsn);
    expectServer({ server }, time);
    const batches: ReplicaBatch[] = [];
    const keep = (portion: ReplicaBatch) => void batches.push(portion);
    const first = firstUnseen({ fromUsn, usns }, this.#read);
    if (first !== undefined) {
      expectServer(await this.#source.readChanges(first, keep), time);
    }
    const doubtful = [
      ...rolledBack({ fromUsn, usns }, this.#read).flatMap(key =>
        this.#kindsOf(key).map(kind => ({ kind, key })),
      ),
      ...this.#removedMembers(batches, usns).map(key => ({
        kind: 'users' as const,
        key,
      })),
    ];
    const deleted: string[] = [];
    for (const entry of doubtful) {
      const { server: from, found } = await this.#source.readEntry(entry, keep);
      expectServer({ server: from }, time);
      deleted.push(...(found ? [] : [entry.key]));
    }
    // Not before: what another server has may be older, and the copy is in use.
    let hasNewKeys = false;
    for (const portion of batches) {
      const table = this.#tables[portion.kind];
      hasNewKeys ||= portion.entries.some(
        ([key, entry]) => entry && !table.differs(key, undefined),
      );
      this.#writer.take(portion, requestedAt);
      await nextTurn();
    }
    if (deleted.length <= MAX_REMOVALS) {
      for (const key of deleted) {
        this.#writer.remove(key);
      }
    }
    await this.#tables.users.buildIndexes();
    this.#read = new Map(usns);
    return { hasNewKeys };
  }

  /**
   * Unchanged users that were removed from changed groups. A deleted user loses
   * all memberships. Where the deletion itself is not reported
   * (`ipa user-del --preserve`), this finds it at once.
   */
  #removedMembers(
    batches: readonly ReplicaBatch[],
    changed: ReadonlyMap<string, unknown>,
  ): readonly string[] {
    const { users, groups } = this.#tables;
    const removed = new Set<string>();
    for (const portion of batches) {
      for (const [key, group] of portion.kind === 'groups'
        ? portion.entries
        : []) {
        const members = new Set(group?.members);
        for (const member of groups.get(key)?.members ?? []) {
          if (
            !members.has(member) &&
            !changed.has(member) &&
            users.served.get(member)
          ) {
            removed.add(member);
          }
        }
      }
    }
    return removed.size > MAX_REMOVED_MEMBERS ? [] : [...removed];
  }

  /** What this is in the copy: nothing, if it was heard that it is gone. */
  #kindsOf(key: string) {
    const { users, groups, agreements } = this.#tables;
    const tables = { users, groups, agreements };
    return (['users', 'groups', 'agreements'] as const).filter(kind =>
      tables[kind].differs(key, undefined),
    );
  }
}

/** What has been written from a number on, and is still there. */
interface ListedChanges {
  readonly fromUsn: number;
  readonly usns: UsnsByKey;
}

/**
 * The lowest number among entries that were not read as they are now;
 * `undefined` when all were.
 *
 * A server counts a write when it begins and shows it when it ends, so that a
 * lower number may come after a higher one. So all recent usns are listed
 * at each look, which costs little, and entries are read only for new ones.
 *
 * @param read - what had been listed before all of it was read
 */
export function firstUnseen(
  { fromUsn, usns }: ListedChanges,
  read: UsnsByKey,
): number | undefined {
  const unread = [...usns]
    .filter(([key, usn]) => usn === undefined || read.get(key) !== usn)
    .map(([, usn]) => usn ?? fromUsn);
  return unread.length === 0
    ? undefined
    : unread.reduce((least, usn) => Math.min(least, usn));
}

/**
 * The keys whose last write is not there any more, though it is not too old to
 * be listed: the entry is gone, or the write was taken back after it could be
 * seen, as 389 Directory Server does when a plugin of its own refuses it.
 *
 * @param read - as in {@link firstUnseen}
 */
export function rolledBack(
  { fromUsn, usns }: ListedChanges,
  read: UsnsByKey,
): readonly string[] {
  return [...read]
    .filter(([key, usn = 0]) => usn >= fromUsn && !usns.has(key))
    .map(([key]) => key);
}
