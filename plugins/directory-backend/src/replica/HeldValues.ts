import type { CopiedUser, ReplicaPortion } from './ReplicaSource';
import type { ReplicaTables } from './ReplicaTables';
import {
  coverageOf,
  mergeStates,
  type Coverage,
  type ReplicationState,
} from './ReplicationState';
import type { TableCheck } from './TableCheck';

/** How long values are held when replication states cannot be compared. */
const MAX_UNKNOWN_MS = 10 * 60_000;

/**
 * How long they are held from a server that is behind. A change that is not
 * replicated, such as a failed login, can leave it behind until the next one.
 */
const MAX_BEHIND_MS = 60 * 60_000;

/** New entries whose creation time is read; more of them are held. */
const MAX_CREATED_READS = 50;

/** What is stricter in the replica than in the server's entry. */
type Hold =
  | { readonly kind: 'deleted' }
  | {
      readonly kind: 'restricted';
      readonly isPrivate: boolean;
      /** The field `locked` of the user. */
      readonly isLocked: boolean;
      readonly isAccountLocked: boolean;
      readonly expires: Date | undefined;
    };

/** An entry that a server has and the replica has not. */
export interface NewEntry {
  readonly kind: ReplicaPortion['kind'];
  readonly key: string;
}

/**
 * Values that are stricter than those of the server that the replica follows. A
 * server that lags behind the previous one would undo deletions, locks,
 * expiries and private flags: they are held until it has caught up.
 */
export class HeldValues {
  readonly #holds = new Map<string, Hold>();
  #required: ReplicationState | undefined;
  #heldSince = 0;

  /** Number of entries that are held. */
  get size(): number {
    return this.#holds.size;
  }

  /** Whether an entry, by its key, differs from the server's. */
  has(key: string): boolean {
    return this.#holds.has(key);
  }

  /**
   * What a new server must have so that nothing is held, given the state of the
   * previous one.
   */
  requiredAfter(
    previous: ReplicationState | undefined,
  ): ReplicationState | undefined {
    return this.size > 0 ? mergeStates(this.#required, previous) : previous;
  }

  /**
   * Holds what is stricter in the tables than in what a check has found.
   *
   * @param options - `required`: see {@link requiredAfter}; `isNew`: whether an
   *   entry was created so recently that the previous server may not have had it
   */
  async hold(
    check: TableCheck,
    options: {
      readonly tables: ReplicaTables;
      readonly required: ReplicationState | undefined;
      readonly isNew: (entry: NewEntry) => Promise<boolean>;
    },
  ): Promise<void> {
    const { tables } = options;
    this.#required = options.required;
    this.#heldSince = performance.now();
    const added: NewEntry[] = [];
    for (const kind of ['users', 'groups', 'agreements'] as const) {
      for (const [key, entry] of check.found(kind)) {
        if (entry && !tables[kind].differs(key, undefined)) {
          added.push({ kind, key });
        }
      }
    }
    for (const [key, entry] of check.found('users')) {
      const hold = entry && restriction(entry as CopiedUser, key, tables);
      if (hold) {
        this.#holds.set(key, hold);
      }
    }
    for (const entry of added) {
      if (added.length > MAX_CREATED_READS || !(await options.isNew(entry))) {
        this.#holds.set(entry.key, { kind: 'deleted' });
      }
    }
  }

  /** Restricts entries that were read to what is held. */
  apply(portion: ReplicaPortion): ReplicaPortion {
    if (this.#holds.size === 0) {
      return portion;
    }
    const isDeleted = (key: string) => this.#holds.get(key)?.kind === 'deleted';
    switch (portion.kind) {
      case 'users':
        return {
          kind: 'users',
          entries: portion.entries.map(
            ([key, user]) =>
              [key, user && restrict(user, this.#holds.get(key))] as const,
          ),
        };
      case 'groups':
        return {
          kind: 'groups',
          entries: portion.entries.map(
            ([key, group]) =>
              [key, isDeleted(key) ? undefined : group] as const,
          ),
        };
      default:
        return {
          kind: 'agreements',
          entries: portion.entries.map(
            ([key, agreement]) =>
              [key, isDeleted(key) ? undefined : agreement] as const,
          ),
        };
    }
  }

  /**
   * Releases the values when the server has caught up, or after the maximum
   * time. The tables must be synced afterwards.
   *
   * @returns how far the server was, or `undefined` when they are still held
   */
  release(state: ReplicationState | undefined): Coverage | undefined {
    const coverage = coverageOf(this.#required, state);
    const heldMs = performance.now() - this.#heldSince;
    const maxMs = coverage === 'unknown' ? MAX_UNKNOWN_MS : MAX_BEHIND_MS;
    if (coverage !== 'covered' && heldMs < maxMs) {
      return undefined;
    }
    this.#holds.clear();
    this.#required = undefined;
    return coverage;
  }
}

function restriction(
  { user, account }: CopiedUser,
  key: string,
  { users }: ReplicaTables,
): Hold | undefined {
  const row = users.served.get(key);
  if (!row) {
    return undefined;
  }
  const old = users.accountOf(row);
  const isPrivate = row.record.is_private === true && user.is_private !== true;
  const isLocked = row.record.locked === true && user.locked !== true;
  const isAccountLocked = old.locked && account?.locked === false;
  const isEarlier =
    old.expires !== undefined &&
    account !== undefined &&
    (account.expires === undefined || old.expires < account.expires);
  return isPrivate || isLocked || isAccountLocked || isEarlier
    ? {
        kind: 'restricted',
        isPrivate,
        isLocked,
        isAccountLocked,
        expires: isEarlier ? old.expires : undefined,
      }
    : undefined;
}

function restrict(entry: CopiedUser, hold?: Hold): CopiedUser | undefined {
  if (hold?.kind !== 'restricted') {
    return hold ? undefined : entry;
  }
  const { user, account } = entry;
  return {
    ...entry,
    user: {
      ...user,
      is_private: hold.isPrivate || user.is_private,
      locked: hold.isLocked || user.locked,
    },
    account: account && {
      ...account,
      locked: hold.isAccountLocked || account.locked,
      expires: earlier(hold.expires, account.expires),
    },
  };
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  return a && b && b < a ? b : a ?? b;
}
