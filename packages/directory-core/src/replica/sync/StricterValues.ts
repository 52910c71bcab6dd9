import type { LoggerService } from '@backstage/backend-plugin-api';
import { isDeepStrictEqual } from 'node:util';
import {
  type AgreementEntry,
  type EntryRef,
  type GroupEntry,
  mapLinks,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
  type UserEntry,
} from '../tables/entries';
import { difference } from '../tables/MembershipGraph';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { PendingReads } from './PendingReads';

/** Time for which stricter values are kept after a switch to another server. */
const HOLD_MS = 10 * 60_000;

/** Margin for clock differences and the delay of replication. */
const CREATED_MARGIN_MS = 5 * 60_000;

interface StricterValuesOptions {
  readonly tables: ReplicaTables;
  readonly logger: LoggerService;
  /** Receives entries to read when values are released. */
  readonly pending: PendingReads;
  /** Milliseconds for which values are kept. Default: 10 minutes. */
  readonly holdMs?: number;
}

/**
 * Keeps stricter values for 10 minutes after a switch to another server, which
 * may lag behind the previous one and would undo deletions, removals from
 * groups, locks, expiries and private flags. The names of the tables stay, too.
 */
export class StricterValues {
  readonly #options: StricterValuesOptions;
  #endsAt = -Infinity;
  /** Entries that were created before this time must be in the tables. */
  #createdBefore = -Infinity;
  /** Stable IDs of entries with stricter values than the server's. */
  readonly #held = new Set<string>();
  /** Keys of the tables that stay, by the key on the server. */
  readonly #keys = new Map<string, string>();

  constructor(options: StricterValuesOptions) {
    this.#options = options;
  }

  /** Whether stricter values are kept now. */
  get isActive(): boolean {
    return performance.now() < this.#endsAt;
  }

  /**
   * Starts to keep the values of the tables.
   *
   * @param ageMs - time since the tables were known to match the previous
   *   server
   */
  start(ageMs: number): void {
    const { holdMs = HOLD_MS } = this.#options;
    this.#createdBefore = Date.now() - ageMs - CREATED_MARGIN_MS;
    this.#endsAt = performance.now() + holdMs;
    this.#held.clear();
    this.#keys.clear();
  }

  /** Applies the stricter values of the tables to entries that were read. */
  restrict(batch: ReplicaBatch): ReplicaBatch {
    if (!this.isActive) {
      return batch;
    }
    const { kind, entries } = batch;
    const restricted = entries.map(read => this.#restrict(kind, read));
    return { kind, entries: restricted } as ReplicaBatch;
  }

  #restrict(kind: ReplicaKind, read: ReadEntry<any>): ReadEntry {
    const { tables } = this.#options;
    const { id, entry, createdAt } = read;
    if (!entry) {
      return read;
    }
    const key = kind === 'agreements' ? read.key : tables[kind].keyOf(id);
    if (key === undefined || key === read.key) {
      this.#keys.delete(read.key);
    } else {
      this.#keys.set(read.key, key);
    }
    let restricted = read;
    if (key !== undefined && tables.has({ kind, id })) {
      const restrict = {
        users: () => this.#restrictUser(read, key),
        groups: () => this.#restrictGroup(this.#withKeys(entry), key),
        agreements: () => this.#restrictAgreement(this.#withKeys(entry), id),
      };
      restricted = { ...read, key, entry: restrict[kind]() };
    } else if (!createdAt || createdAt.getTime() < this.#createdBefore) {
      // The tables would have it unless it was deleted.
      restricted = { ...read, entry: undefined };
    }
    if (!isDeepStrictEqual(restricted, read)) {
      this.#hold({ kind, id });
    }
    return restricted;
  }

  #restrictUser(read: ReadEntry<UserEntry>, key: string): UserEntry {
    const { users } = this.#options.tables;
    const row = users.served.get(key)!;
    const { username, is_private: isPrivate, locked } = row.record;
    const old = users.accountOf(row);
    const { user, account } = read.entry!;
    const expires = earlierOf(old.expires, account?.expires);
    // The DN of an entry may not contain its name.
    const isRenamed = key !== read.key || username !== user.username;
    return {
      ...read.entry!,
      user: {
        ...user,
        username,
        ...(isPrivate && { is_private: true }),
        ...(locked && { locked: true }),
      },
      ...(account && {
        account: {
          ...account,
          ...(isRenamed && {
            principalNames: old.principalNames,
            isFoundByUsername: old.isFoundByUsername,
          }),
          ...(expires && { expires }),
          locked: old.locked || account.locked,
        },
      }),
    };
  }

  #restrictGroup(entry: GroupEntry, key: string): GroupEntry {
    const { graph, served } = this.#options.tables.groups;
    const { group, members } = entry;
    const name = served.get(key)?.name ?? group?.groupname ?? '';
    const before = graph.directMembersOf(key);
    return {
      ...entry,
      members: commonItems(members, before),
      ...(group && { group: { ...group, groupname: name } }),
    };
  }

  #restrictAgreement(entry: AgreementEntry, id: string): AgreementEntry {
    const before = this.#options.tables.agreements.get(id)!.signers;
    const signers = [...entry.signers].filter(key => before.has(key));
    return { ...entry, signers: new Set(signers) };
  }

  /** Replaces keys of the server by those of the tables. */
  #withKeys<T extends object>(entry: T): T {
    return this.#keys.size === 0
      ? entry
      : mapLinks(entry, keys => keys.map(key => this.#keys.get(key) ?? key));
  }

  #hold(ref: EntryRef): void {
    const { logger, pending } = this.#options;
    if (this.#held.has(ref.id)) {
      return;
    }
    if (this.#held.size === 0) {
      logger.warn(
        'The directory server is less strict than the previous one and may lag behind in replication: stricter values are kept for 10 minutes',
      );
    }
    this.#held.add(ref.id);
    pending.add({
      refs: () => [ref],
      delayMs: this.#endsAt - performance.now(),
    });
  }
}

/** Returns the items of a list that another list has. */
function commonItems(
  items: readonly string[],
  others: readonly string[],
): readonly string[] {
  const { added } = difference(others, items);
  return added.size === 0 ? items : items.filter(item => !added.has(item));
}

/** Returns the earlier of two expiries; `undefined` means never. */
export function earlierOf(
  a: Date | undefined,
  b: Date | undefined,
): Date | undefined {
  if (a && b) {
    return a < b ? a : b;
  }
  return a ?? b;
}
