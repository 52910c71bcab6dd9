import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  expectServer,
  type EntryRef,
  type ReplicaBatch,
  replicaKinds,
  type ReplicaPosition,
  type ReplicaSource,
  type UsnsByKey,
} from './ReplicaSource';
import type { TableWriter } from './TableWriter';

/**
 * Maximum number of removed members that are re-read individually. If a group
 * loses more members, the comparison of keys (`UnreportedDeletions`) finds the
 * deleted ones.
 */
const MAX_REMOVED_MEMBERS = 50;

/**
 * Maximum number of entries that are deleted because they can no longer be
 * read. Beyond it, they are left to the comparison of keys, which runs the
 * mass-deletion guard: the account may have lost the right to read them.
 */
const MAX_DELETIONS = 50;

interface IncrementalSyncOptions {
  readonly source: ReplicaSource;
  readonly tables: ReplicaTables;
  readonly writer: TableWriter;
}

/** Reads each recent write into the tables once. */
export class IncrementalSync {
  readonly #options: IncrementalSyncOptions;
  /** Writes that the last sync listed; all of them were read. */
  #listed = new Map<string, number | undefined>();
  readonly #deleted = new Set<string>();

  constructor(options: IncrementalSyncOptions) {
    this.#options = options;
  }

  /** Discards the list of earlier writes. */
  reset(): void {
    this.#listed.clear();
  }

  /**
   * Records a reported deletion, so that the entry is re-read if it exists
   * again.
   */
  recordDeletion(key: string): void {
    this.#deleted.add(key);
  }

  /**
   * Reads the writes up to a position.
   *
   * @param fromUsn - the lowest USN of writes that may be new
   * @returns whether entries were added or renamed
   */
  async apply(
    position: ReplicaPosition,
    fromUsn: number,
  ): Promise<{ readonly hasNewKeys: boolean }> {
    const { source, tables, writer } = this.#options;
    const requestedAt = performance.now();
    for (const key of this.#deleted) {
      this.#listed.delete(key);
    }
    this.#deleted.clear();
    const { server, usns } = await source.listChanges(fromUsn);
    expectServer({ server }, position);
    const batches: ReplicaBatch[] = [];
    const onBatch = (batch: ReplicaBatch) => void batches.push(batch);
    const first = firstUnseen({ fromUsn, usns }, this.#listed);
    if (first !== undefined) {
      expectServer(await source.readChanges(first, onBatch), position);
    }
    const deleted: string[] = [];
    for (const entry of this.#uncertain(batches, { fromUsn, usns })) {
      const response = await source.readEntry(entry, onBatch);
      expectServer(response, position);
      deleted.push(...(response.found ? [] : [entry.key]));
    }
    const isDeleting = deleted.length > 0 && deleted.length <= MAX_DELETIONS;
    if (isDeleting) {
      await source.verifyAccess();
    }
    // Written only now: entries from another server could be older than the
    // tables.
    let hasNewKeys = false;
    for (const batch of batches) {
      const table = tables[batch.kind];
      hasNewKeys ||= batch.entries.some(
        ([key, entry]) => entry && !table.differs(key, undefined),
      );
      writer.write(batch, requestedAt);
      await nextTurn();
    }
    if (isDeleting) {
      for (const key of deleted) {
        writer.delete(key);
      }
    }
    await tables.users.buildIndexes();
    this.#listed = new Map(usns);
    return { hasNewKeys };
  }

  /**
   * Returns entries of the tables that may have been deleted or rolled back.
   */
  #uncertain(
    batches: readonly ReplicaBatch[],
    listed: ListedChanges,
  ): readonly EntryRef[] {
    const { tables } = this.#options;
    return [
      ...rolledBack(listed, this.#listed).flatMap(key =>
        replicaKinds
          .filter(kind => tables[kind].differs(key, undefined))
          .map(kind => ({ kind, key })),
      ),
      ...this.#removedMembers(batches, listed.usns).map(key => ({
        kind: 'users' as const,
        key,
      })),
    ];
  }

  /**
   * Returns unchanged users that were removed from changed groups. A deleted
   * user loses all memberships. If the deletion itself is not reported
   * (`ipa user-del --preserve`), this finds it immediately.
   */
  #removedMembers(
    batches: readonly ReplicaBatch[],
    changed: UsnsByKey,
  ): readonly string[] {
    const { users, groups } = this.#options.tables;
    const removed = new Set<string>();
    for (const { kind, entries } of batches) {
      for (const [key, group] of kind === 'groups' ? entries : []) {
        const members = new Set(group?.members);
        for (const member of groups.graph.directMembersOf(key)) {
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
}

/** The existing entries that were written since a USN. */
interface ListedChanges {
  readonly fromUsn: number;
  readonly usns: UsnsByKey;
}

/**
 * Returns the lowest USN among the entries whose last write has not been read;
 * `undefined` when all writes have been read.
 *
 * A server assigns the USN when a write starts and shows the entry when the
 * write ends, so a lower USN may appear after a higher one. Every poll
 * therefore lists all recent USNs, which is cheap, and reads entries only for
 * new ones.
 *
 * @param seen - the writes that have been read
 */
export function firstUnseen(
  { fromUsn, usns }: ListedChanges,
  seen: UsnsByKey,
): number | undefined {
  const unseen = [...usns]
    .filter(([key, usn]) => usn === undefined || seen.get(key) !== usn)
    .map(([, usn]) => usn ?? fromUsn);
  return unseen.length === 0
    ? undefined
    : unseen.reduce((least, usn) => Math.min(least, usn));
}

/**
 * Returns the keys whose last write is recent but no longer listed: the entry
 * was deleted, or the write was rolled back after it became visible, as 389
 * Directory Server does when a plugin rejects it.
 *
 * @param seen - the writes that have been read
 */
export function rolledBack(
  { fromUsn, usns }: ListedChanges,
  seen: UsnsByKey,
): readonly string[] {
  return [...seen]
    .filter(([key, usn = 0]) => usn >= fromUsn && !usns.has(key))
    .map(([key]) => key);
}
