import type { LoggerService } from '@backstage/backend-plugin-api';
import type {
  AgreementEntry,
  EntryRef,
  GroupEntry,
  ReadEntry,
  ReplicaBatch,
  UserEntry,
} from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';

/** Time for which stricter values are kept after a switch to another server. */
const HOLD_MS = 10 * 60_000;

/** Margin for clock differences and the delay of replication. */
const CREATED_MARGIN_MS = 5 * 60_000;

interface StricterValuesOptions {
  readonly tables: ReplicaTables;
  readonly logger: LoggerService;
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
  /** Entries with stricter values than the server's, by stable ID. */
  readonly #held = new Map<string, EntryRef>();
  /** Keys of the tables that stay, by the key on the server. */
  readonly #keys = new Map<string, string>();

  constructor(options: StricterValuesOptions) {
    this.#options = options;
  }

  /** Whether stricter values are kept now. */
  get isActive(): boolean {
    return performance.now() < this.#endsAt;
  }

  /** Number of entries with stricter values than the server's. */
  get size(): number {
    return this.#held.size;
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
    this.#keys.clear();
  }

  /** Entries to read again because their values are no longer kept. */
  get released(): readonly EntryRef[] {
    return this.#held.size === 0 || this.isActive
      ? []
      : [...this.#held.values()];
  }

  /**
   * Records that entries were read again. Those that were held again in the
   * meantime stay.
   */
  clear(released: readonly EntryRef[]): void {
    const ended = released.filter(ref => this.#held.get(ref.id) === ref);
    for (const { id } of ended) {
      this.#held.delete(id);
    }
    if (ended.length > 0) {
      this.#options.logger.info(
        `Stricter values of ${ended.length} entries are released`,
      );
    }
  }

  /** Applies the stricter values of the tables to entries that were read. */
  restrict(batch: ReplicaBatch): ReplicaBatch {
    if (!this.isActive) {
      return batch;
    }
    const { kind, entries } = batch;
    const restrict: (read: ReadEntry<any>) => ReadEntry = {
      users: (read: ReadEntry<any>) => this.#restrictUser(read),
      groups: (read: ReadEntry<any>) => this.#restrictGroup(read),
      agreements: (read: ReadEntry<any>) => this.#restrictAgreement(read),
    }[kind];
    return {
      kind,
      entries: entries.map(read => restrict(read)),
    } as ReplicaBatch;
  }

  #restrictUser(read: ReadEntry<UserEntry>): ReadEntry<UserEntry> {
    const { users } = this.#options.tables;
    const { entry } = read;
    const row = users.served.get(users.keyOf(read.id) ?? '');
    this.#recordKey(read, row?.key);
    if (!entry || !row) {
      return this.#withoutDeleted('users', read);
    }
    const old = users.accountOf(row);
    const { user, account } = entry;
    // The DN of an entry may not contain its name.
    const isRenamed =
      row.key !== read.key || row.record.username !== user.username;
    const isPrivate = row.record.is_private === true;
    const isLocked = row.record.locked === true;
    const expires = earlierOf(old.expires, account?.expires);
    const isStricter =
      isRenamed ||
      (isPrivate && user.is_private !== true) ||
      (isLocked && user.locked !== true) ||
      (old.locked && account?.locked === false) ||
      expires !== account?.expires;
    if (!isStricter) {
      return read;
    }
    this.#hold({ kind: 'users', id: read.id });
    return {
      ...read,
      key: row.key,
      entry: {
        ...entry,
        user: {
          ...user,
          username: row.record.username,
          is_private: isPrivate || user.is_private,
          locked: isLocked || user.locked,
        },
        account: account && {
          ...account,
          ...(isRenamed && {
            principalNames: old.principalNames,
            isFoundByUsername: old.isFoundByUsername,
          }),
          expires,
          locked: old.locked || account.locked,
        },
      },
    };
  }

  #restrictGroup(read: ReadEntry<GroupEntry>): ReadEntry<GroupEntry> {
    const { groups } = this.#options.tables;
    const { entry } = read;
    const key = groups.keyOf(read.id);
    this.#recordKey(read, key);
    if (!entry || key === undefined) {
      return this.#withoutDeleted('groups', read);
    }
    const before = groups.graph.directMembersOf(key);
    const onServer = this.#currentKeys(entry.members);
    const members = commonItems(onServer, before);
    const sponsors = this.#currentKeys(entry.sponsors);
    const nameOnServer = entry.group?.groupname;
    const name = groups.served.get(key)?.name ?? nameOnServer;
    const isRenamed =
      key !== read.key || (entry.group && name !== nameOnServer);
    if (isRenamed || members !== onServer) {
      this.#hold({ kind: 'groups', id: read.id });
    }
    return {
      ...read,
      key,
      entry: {
        ...entry,
        members,
        sponsors,
        group: entry.group && {
          ...entry.group,
          groupname: name ?? entry.group.groupname,
        },
      },
    };
  }

  #restrictAgreement(
    read: ReadEntry<AgreementEntry>,
  ): ReadEntry<AgreementEntry> {
    const old = this.#options.tables.agreements.get(read.id);
    const { entry } = read;
    if (!entry || !old) {
      return this.#withoutDeleted('agreements', read);
    }
    const onServer = this.#currentKeys([...entry.signers]);
    const signers = onServer.filter(key => old.signers.has(key));
    if (signers.length < onServer.length) {
      this.#hold({ kind: 'agreements', id: read.id });
    }
    return { ...read, entry: { ...entry, signers: new Set(signers) } };
  }

  /** Records under which key of the tables an entry of the server stays. */
  #recordKey({ key, entry }: ReadEntry, current: string | undefined): void {
    if (entry && current !== undefined && current !== key) {
      this.#keys.set(key, current);
    } else if (entry) {
      this.#keys.delete(key);
    }
  }

  /** Returns the keys of the tables for keys of the server. */
  #currentKeys(keys: readonly string[]): readonly string[] {
    return this.#keys.size === 0
      ? keys
      : keys.map(key => this.#keys.get(key) ?? key);
  }

  /** Leaves out an entry that the tables would have unless it was deleted. */
  #withoutDeleted<T>(kind: EntryRef['kind'], read: ReadEntry<T>): ReadEntry<T> {
    const { id, entry, createdAt } = read;
    if (!entry || (createdAt && createdAt.getTime() >= this.#createdBefore)) {
      return read;
    }
    this.#hold({ kind, id });
    return { ...read, entry: undefined };
  }

  #hold(entry: EntryRef): void {
    if (this.#held.size === 0) {
      this.#options.logger.warn(
        'The directory server is less strict than the previous one and may lag behind in replication: stricter values are kept for 10 minutes',
      );
    }
    this.#held.set(entry.id, entry);
  }
}

/** Returns the items of a list that another list has; the list for all. */
function commonItems(
  items: readonly string[],
  others: readonly string[],
): readonly string[] {
  if (items.every((item, index) => item === others[index])) {
    return items;
  }
  const known = new Set(others);
  const common = items.filter(item => known.has(item));
  return common.length === items.length ? items : common;
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
