import type { LoggerService } from '@backstage/backend-plugin-api';
import type { UserEntry } from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  type EntryRef,
  type ReplicaBatch,
  replicaKinds,
  type ReplicaPosition,
  type ReplicaSource,
  type ReplicationState,
} from './ReplicaSource';
import type { TableCheck } from './TableCheck';

/** Maximum time to hold values when replication states cannot be compared. */
const MAX_UNKNOWN_MS = 10 * 60_000;

/**
 * Maximum time to hold values while a server lags behind. A change that is not
 * replicated, such as a failed login, can keep it behind until the next change.
 */
const MAX_BEHIND_MS = 60 * 60_000;

/** Interval of checks for whether values can be released. */
const RELEASE_INTERVAL_MS = 1000;

/** Margin for clock differences and the delay of replication. */
const CREATED_MARGIN_MS = 5 * 60_000;

/**
 * Maximum number of new entries whose creation time is read. If there are more,
 * all are held.
 */
const MAX_CREATED_READS = 50;

/** Values that are stricter in the replica than in the server's entry. */
type Hold =
  | { readonly kind: 'deleted' }
  | {
      readonly kind: 'restricted';
      readonly isPrivate: boolean;
      /** The `locked` field of the user. */
      readonly isLocked: boolean;
      readonly isAccountLocked: boolean;
      readonly expires: Date | undefined;
    };

interface HeldValuesOptions {
  readonly source: Pick<ReplicaSource, 'createdAt' | 'replicationState'>;
  readonly tables: ReplicaTables;
  readonly logger: LoggerService;
}

/**
 * Values that are stricter than those of the server that the replica follows. A
 * server that lags behind the previous one would undo deletions, locks,
 * expiries and private flags: they are held until it has caught up.
 */
export class HeldValues {
  readonly #options: HeldValuesOptions;
  /** Held values by key. */
  readonly #holds = new Map<string, Hold>();
  /** Replication state that a server must reach before values are released. */
  #required: ReplicationState | undefined;
  #heldSince = 0;
  #releaseAt = -Infinity;
  /** Replication state of the tables before the last write. */
  #replicated: ReplicationState | undefined;
  #hasWritten = false;

  constructor(options: HeldValuesOptions) {
    this.#options = options;
  }

  /**
   * Replication state of the tables; `undefined` when they were written since.
   */
  get replicated(): ReplicationState | undefined {
    return this.#hasWritten ? undefined : this.#replicated;
  }

  /** Number of held entries. */
  get size(): number {
    return this.#holds.size;
  }

  /** Whether an entry, by its key, may differ from the server's. */
  has(key: string): boolean {
    return this.#holds.has(key);
  }

  /** Records a write to the tables. */
  recordWrite(): void {
    this.#hasWritten = true;
  }

  /**
   * Prepares the comparison of the tables with another server. Returns a
   * function that holds the stricter values among the differences; `undefined`
   * when that server has all changes from the previous one.
   *
   * @param ageMs - time since the tables were known to match the previous
   *   server
   */
  async prepare(
    position: ReplicaPosition,
    ageMs: number,
  ): Promise<((check: TableCheck) => Promise<void>) | undefined> {
    const previous = this.replicated;
    const required =
      this.size > 0 ? mergeStates(this.#required, previous) : previous;
    const state = await this.#stateOf(position);
    if (coverageOf(required, state) === 'covered') {
      return undefined;
    }
    const notBefore = Date.now() - ageMs - CREATED_MARGIN_MS;
    return async check => {
      await this.#hold(check, notBefore);
      this.#required = required;
      this.#heldSince = performance.now();
      if (this.size > 0) {
        this.#options.logger.warn(
          `${this.size} entries of ${
            position.server
          } are less strict than those of the previous server: stricter values are kept until it has caught up with replication${
            required && state
              ? ''
              : ', for 10 minutes, because its replication state cannot be compared. Allow the service account to read nsds50ruv of cn=mapping tree,cn=config'
          }`,
        );
      }
    };
  }

  /**
   * Reads the server's replication state after writes, and releases the values
   * when the server has caught up.
   *
   * @returns whether values were released, so that the tables must be synced
   */
  async update(position: ReplicaPosition): Promise<boolean> {
    if (this.#hasWritten) {
      // A state that is read after a write is never behind the tables.
      this.#hasWritten = false;
      this.#replicated = undefined;
      this.#replicated = await this.#stateOf(position);
    }
    const now = performance.now();
    if (this.size === 0 || now < this.#releaseAt) {
      return false;
    }
    this.#releaseAt = now + RELEASE_INTERVAL_MS;
    const coverage = coverageOf(this.#required, await this.#stateOf(position));
    const maxMs = coverage === 'unknown' ? MAX_UNKNOWN_MS : MAX_BEHIND_MS;
    if (coverage !== 'covered' && now - this.#heldSince < maxMs) {
      return false;
    }
    this.#options.logger.info(
      coverage === 'covered'
        ? `${position.server} has caught up with replication: stricter values of ${this.size} entries are released`
        : `Stricter values of ${this.size} entries are released because the maximum time has passed`,
    );
    this.#holds.clear();
    return true;
  }

  /** Applies the held values to entries that were read. */
  restrict(batch: ReplicaBatch): ReplicaBatch {
    if (this.#holds.size === 0) {
      return batch;
    }
    if (batch.kind === 'users') {
      const entries = batch.entries.map(
        ([key, user]) =>
          [key, user && restrict(user, this.#holds.get(key))] as const,
      );
      return { ...batch, entries };
    }
    const isDeleted = (key: string) => this.#holds.get(key)?.kind === 'deleted';
    const entries = batch.entries.map(
      ([key, entry]) => [key, isDeleted(key) ? undefined : entry] as const,
    );
    return { ...batch, entries } as ReplicaBatch;
  }

  async #hold(check: TableCheck, notBefore: number): Promise<void> {
    const { source, tables } = this.#options;
    const added: EntryRef[] = [];
    for (const kind of replicaKinds) {
      for (const [key, entry] of check.found[kind]) {
        if (entry && !tables[kind].differs(key, undefined)) {
          added.push({ kind, key });
        }
      }
    }
    for (const [key, entry] of check.found.users) {
      const hold = entry && restriction(entry, key, tables);
      if (hold) {
        this.#holds.set(key, hold);
      }
    }
    for (const entry of added) {
      const createdAt =
        added.length > MAX_CREATED_READS
          ? undefined
          : await source.createdAt(entry);
      if (!createdAt || createdAt.getTime() < notBefore) {
        this.#holds.set(entry.key, { kind: 'deleted' });
      }
    }
  }

  async #stateOf({
    server,
  }: ReplicaPosition): Promise<ReplicationState | undefined> {
    const response = await this.#options.source.replicationState();
    return response?.server === server ? response.state : undefined;
  }
}

function restriction(
  { user, account }: UserEntry,
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

function restrict(
  entry: UserEntry,
  hold: Hold | undefined,
): UserEntry | undefined {
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
      expires: earlierOf(hold.expires, account.expires),
    },
  };
}

/** Returns the earlier of two expiries; `undefined` means never. */
export function earlierOf(
  a: Date | undefined,
  b: Date | undefined,
): Date | undefined {
  return a && b && b < a ? b : (a ?? b);
}

/** Whether a server has the changes from another server. */
type Coverage =
  /** The server has all changes. */
  | 'covered'
  /** Changes are missing. */
  | 'behind'
  /** The states cannot be compared. */
  | 'unknown';

/** Returns whether a server has the required changes. */
export function coverageOf(
  required: ReplicationState | undefined,
  state: ReplicationState | undefined,
): Coverage {
  if (!required || !state || required.generation !== state.generation) {
    return 'unknown';
  }
  let coverage: Coverage = 'covered';
  for (const [id, change] of required.latest) {
    const latest = state.latest.get(id);
    if (latest === undefined) {
      return 'unknown';
    }
    if (latest < change) {
      coverage = 'behind';
    }
  }
  return coverage;
}

/**
 * Returns the changes in either state; `undefined` when they cannot be compared.
 */
function mergeStates(
  a: ReplicationState | undefined,
  b: ReplicationState | undefined,
): ReplicationState | undefined {
  if (!a || !b || a.generation !== b.generation) {
    return undefined;
  }
  const latest = new Map(a.latest);
  for (const [id, change] of b.latest) {
    const other = latest.get(id);
    latest.set(id, other !== undefined && other > change ? other : change);
  }
  return { generation: a.generation, latest };
}
