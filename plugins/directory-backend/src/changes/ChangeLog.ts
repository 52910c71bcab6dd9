import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import type { PositionOrder } from '@directory-gateway/directory-core';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

const LEASE = 'directory_change_writer';
const LOG = 'directory_change_log';
const EVENTS = 'directory_change_events';
const ENTRIES = 'directory_known_entries';
const MEMBERS = 'directory_known_members';

/** Tables of 0.2.0, which does not read those above. */
const FORMER = [
  'directory_changes',
  'directory_change_members',
  'directory_change_entries',
];

/** Rows per statement: SQLite and PostgreSQL limit its parameters. */
const ROWS_PER_STATEMENT = 500;

/** Default time for which a process may write without renewing its lease. */
export const LEASE_MS = 15_000;

/** Time after which the changes of deleted users are deleted. */
const DELETED_USERS_MS = 30 * 24 * 60 * 60_000;

/** Where a server's data stands. */
export interface Position {
  /** Identifies the server and its data. */
  readonly server: string;
  /** Opaque; only {@link ComparePositions} compares it. */
  readonly value: string;
}

/** Returns how the second position relates to the first. */
export type ComparePositions = (from: Position, to: Position) => PositionOrder;

/** Time in which a server is expected to catch up with another one. */
export const CATCH_UP_MS = 10 * 60_000;

/** Kind of an entry. */
export type EntryKind = 'user' | 'group';

/** Kind of a change. */
export type ChangeKind =
  | `${EntryKind}_${'created' | 'changed' | 'renamed' | 'deleted'}`
  | 'user_locked'
  | 'user_unlocked'
  | 'member_added'
  | 'member_removed'
  | 'members_changed';

/** A change that is to be logged, with the columns of its row. */
export interface NewChange {
  readonly kind: ChangeKind;
  /** Stable ID of the user or group; the group of changes of members. */
  readonly entry_id: string;
  /** Name at the time of the change. */
  readonly name: string;
  /** Name before a rename. */
  readonly old_name?: string | null;
  /** The user or served group that was added or removed, directly or not. */
  readonly member_kind?: EntryKind | null;
  readonly member_id?: string | null;
  readonly member_name?: string | null;
}

/** A logged change. */
export interface Change extends NewChange {
  /** Increases in commit order; some numbers are not used. */
  readonly id: number;
  /** Time when the change was recorded. */
  readonly time: Date;
  /** Current name; `null` when the entry has been deleted since. */
  readonly present_name: string | null;
  readonly member_present_name: string | null;
  /** Where the server stood at the time of the change. */
  readonly position: Position;
}

/** A row of {@link EVENTS} with current names. */
interface EventRow extends Omit<Change, 'position'> {
  readonly server: string;
  readonly position: string;
}

/** A user or group as recorded in the database. */
export interface StoredEntry {
  /** Stable ID. */
  readonly id: string;
  readonly kind: EntryKind;
  /** `null` for a group that is not served. */
  readonly name: string | null;
  readonly locked: boolean;
  readonly salt: string;
  readonly digest: string;
}

/** A direct membership, by stable IDs. */
export interface Membership {
  readonly member_id: string;
  readonly group_id: string;
}

/** Changes, and the entries and direct memberships behind them. */
export interface ChangeBatch {
  readonly changes: readonly NewChange[];
  /** New and changed entries. */
  readonly entries: readonly StoredEntry[];
  /** IDs of deleted entries. */
  readonly deleted: readonly string[];
  readonly added: readonly Membership[];
  readonly removed: readonly Membership[];
}

/** The right to write, until another process acquires it. */
export interface Lease {
  readonly token: number;
  /** Whether all entries are recorded: changes are logged from then. */
  isComplete: boolean;
  /** Position of the last complete write; `undefined` before the first one. */
  position: Position | undefined;
}

/** The lease, or what was compared during it, cannot be used any more. */
export class TenureEndedError extends Error {}

/**
 * The durable log of changes, in the plugin's database. All processes read it.
 * The one that holds the lease writes it: each write is one transaction that
 * locks the row of the lease and compares the token.
 */
export class ChangeLog {
  readonly #database: Database;
  readonly #definition: string;
  readonly #holder = randomUUID();

  /**
   * @param options.definition - identifies what determines the entries and
   *   their digests. If it changes, all entries are recorded without changes,
   *   and the log gets another ID.
   */
  constructor(options: {
    readonly database: Database;
    readonly definition: string;
  }) {
    this.#database = options.database;
    this.#definition = options.definition;
  }

  async state() {
    const row = await this.#database(LOG)
      .join(LEASE, `${LEASE}.id`, `${LOG}.id`)
      .first(`${LOG}.*`, 'expires_at', {
        leaseFence: `${LEASE}.fence`,
        now: timeOf(this.#database),
      });
    return {
      /** Identifies the log in cursors. */
      logId: row.log_id as string,
      /** ID before the first retained change. */
      first: Number(row.first_id),
      /** ID of the last change. */
      last: Number(row.last_id),
      /** Whether all entries are recorded. */
      isComplete: Boolean(row.is_complete),
      /** Whether a process holds the lease, and does not run 0.2.0. */
      isWritten:
        Number(row.fence) === Number(row.leaseFence) &&
        new Date(row.expires_at) > new Date(row.now),
      /** The database's time. */
      now: new Date(row.now),
    };
  }

  /** Returns the changes after an ID in order. */
  readAfter(id: number, limit: number): Promise<readonly Change[]> {
    return this.#read(query =>
      query.where('event.id', '>', id).orderBy('event.id').limit(limit),
    );
  }

  /** Returns the changes up to an ID, latest first. */
  readUpTo(id: number, limit: number): Promise<readonly Change[]> {
    return this.#read(query =>
      query
        .where('event.id', '<=', id)
        .orderBy('event.id', 'desc')
        .limit(limit),
    );
  }

  /** Returns the latest changes of an entry or of its memberships. */
  async readOf(
    entry: { readonly kind: EntryKind; readonly name: string },
    options: { readonly kinds: readonly ChangeKind[]; readonly limit: number },
  ): Promise<readonly Change[]> {
    const { kinds, limit } = options;
    // PostgreSQL does not use the indexes for subqueries.
    const ids = await this.#database(ENTRIES).where(entry).pluck('id');
    return this.#read(query =>
      query
        .where(either =>
          either.whereIn('entry_id', ids).orWhereIn('member_id', ids),
        )
        .whereIn('event.kind', kinds)
        .orderBy('event.id', 'desc')
        .limit(limit),
    );
  }

  /**
   * Returns when the direct user members of a group were added, by their
   * current names. Omits users who were members before the log began.
   *
   * @param usernames - only these members. Default: all.
   */
  async joinTimesOf(
    groupname: string,
    usernames?: readonly string[],
  ): Promise<ReadonlyMap<string, Date>> {
    const group = { kind: 'group', name: groupname };
    const query = this.#database(MEMBERS)
      .join({ member: ENTRIES }, 'member.id', 'member_id')
      .whereIn('group_id', this.#database(ENTRIES).where(group).select('id'))
      .where({ 'member.kind': 'user' })
      .whereNotNull('since')
      .select('member.name', 'since');
    if (usernames) {
      query.whereIn('member.name', [...usernames]);
    }
    const rows: { name: string; since: Date | number }[] = await query;
    return new Map(rows.map(({ name, since }) => [name, new Date(since)]));
  }

  async #read(
    select: (query: ReturnType<Database>) => ReturnType<Database>,
  ): Promise<readonly Change[]> {
    const rows: EventRow[] = await select(this.#database({ event: EVENTS }))
      .leftJoin({ entry: ENTRIES }, 'entry.id', 'entry_id')
      .leftJoin({ member: ENTRIES }, 'member.id', 'member_id')
      .select('event.*', {
        present_name: 'entry.name',
        member_present_name: 'member.name',
      });
    return rows.map(({ id, time, server, position, ...change }) => ({
      ...change,
      id: Number(id),
      time: new Date(time),
      position: { server, value: position },
    }));
  }

  /**
   * Acquires the lease, unless another process holds it.
   *
   * @param leaseMs - duration in milliseconds
   */
  async acquire(leaseMs = LEASE_MS): Promise<Lease | undefined> {
    const holder = this.#holder;
    const definition = this.#definition;
    return this.#database.transaction(async transaction => {
      const acquired = await transaction(LEASE)
        .where('expires_at', '<', timeOf(transaction))
        .orWhere({ holder })
        .update({
          holder,
          fence: transaction.raw('fence + 1'),
          expires_at: timeOf(transaction, leaseMs),
        });
      if (acquired === 0) {
        return undefined;
      }
      await transaction(LOG)
        .whereNot({ definition })
        .update({
          definition,
          log_id: randomUUID(),
          is_complete: false,
          first_id: transaction.ref('last_id'),
        });
      const { fence } = await transaction(LEASE).first('fence');
      await transaction(LOG).update({ fence });
      const { is_complete, server, position } = await transaction(LOG).first();
      return {
        token: Number(fence),
        isComplete: Boolean(is_complete),
        position: server === null ? undefined : { server, value: position },
      };
    });
  }

  /**
   * Extends the lease.
   *
   * @param leaseMs - duration from now in milliseconds
   * @throws TenureEndedError
   */
  async renew(lease: Lease, leaseMs = LEASE_MS): Promise<void> {
    const expires_at = timeOf(this.#database, leaseMs);
    await updateLease(this.#database, lease, { expires_at });
  }

  /** Ends the lease, so that another process can acquire it at once. */
  async release({ token }: Lease): Promise<void> {
    await this.#database(LEASE)
      .where({ fence: token })
      .update({ expires_at: new Date(0) });
  }

  /**
   * Returns what was added in the time in which servers catch up: a server that
   * lacks it may lag behind. Created entries and unlocked users are
   * `user_created <id>`, memberships `<member ID> <group ID>`.
   */
  async recentAdditions(): Promise<ReadonlySet<string>> {
    const since = timeOf(this.#database, -CATCH_UP_MS);
    const events: NewChange[] = await this.#database(EVENTS)
      .where('time', '>', since)
      .whereIn('kind', ['user_created', 'group_created', 'user_unlocked'])
      .select('kind', 'entry_id');
    const memberships: (Membership & { readonly name: string | null })[] =
      await this.#database(MEMBERS)
        .where('since', '>', since)
        .leftJoin(ENTRIES, 'id', 'group_id')
        .select('member_id', 'group_id', 'name');
    return new Set([
      ...events.map(({ kind, entry_id }) => `${kind} ${entry_id}`),
      ...memberships.flatMap(({ member_id, group_id, name }) => [
        `${member_id} ${group_id}`,
        // The creation of a group that is not served is not logged.
        ...(name === null ? [`group_created ${group_id}`] : []),
      ]),
    ]);
  }

  /** Yields the recorded entries in pages. */
  entries(): AsyncIterable<readonly StoredEntry[]> {
    return this.#pages(ENTRIES, ['id']);
  }

  /** Yields the direct memberships in pages. */
  memberships(): AsyncIterable<readonly Membership[]> {
    return this.#pages(MEMBERS, ['member_id', 'group_id']);
  }

  /** @param key - columns of the primary key */
  async *#pages(table: string, key: readonly string[]) {
    const columns = key.join(', ');
    const after = `(${columns}) > (${key.map(() => '?').join(', ')})`;
    let last = key.map(() => '');
    for (;;) {
      const rows = await this.#database(table)
        .whereRaw(after, last)
        .orderByRaw(columns)
        .limit(ROWS_PER_STATEMENT);
      if (rows.length === 0) {
        return;
      }
      last = key.map(column => rows.at(-1)[column]);
      yield rows;
    }
  }

  /**
   * Appends changes, and records the entries and memberships behind them.
   *
   * @param options.position - where the server stood after the comparison
   * @param options.isStrict - whether differences were left out: the position
   *   of the last complete write is kept
   * @throws TenureEndedError when another process holds the lease; nothing is
   *   written.
   */
  async append(
    lease: Lease,
    batch: ChangeBatch,
    options: {
      readonly position: Position;
      readonly isStrict: boolean;
      readonly isComplete: boolean;
    },
  ): Promise<void> {
    const { entries, deleted, added, removed } = batch;
    const { isStrict, isComplete } = options;
    const { server, value: position } = options.position;
    await this.#database.transaction(async transaction => {
      await updateLease(transaction, lease);
      const { last_id, now } = await transaction(LOG).first('last_id', {
        now: timeOf(transaction),
      });
      let last = Number(last_id);
      const changes = isComplete ? batch.changes : [];
      await inSlices(changes, slice => {
        const rows = slice.map(change => ({
          ...change,
          id: ++last,
          time: now,
          server,
          position,
        }));
        return transaction(EVENTS).insert(rows);
      });
      await inSlices(deleted, async ids => {
        await transaction(ENTRIES).whereIn('id', ids).delete();
        await transaction(MEMBERS).whereIn('group_id', ids).delete();
        await transaction(MEMBERS).whereIn('member_id', ids).delete();
      });
      await inSlices(entries, slice =>
        transaction(ENTRIES).insert(slice).onConflict('id').merge(),
      );
      await inSlices(removed, slice => {
        const pairs = slice.map(each => [each.member_id, each.group_id]);
        return transaction(MEMBERS)
          .whereIn(['member_id', 'group_id'], pairs)
          .delete();
      });
      const since = isComplete ? now : null;
      await inSlices(added, slice =>
        transaction(MEMBERS).insert(slice.map(each => ({ ...each, since }))),
      );
      await transaction(LOG).update({
        is_complete: isComplete,
        last_id: last,
        ...(isStrict ? {} : { server, position }),
      });
    });
  }

  /**
   * Deletes old changes, and earlier those of deleted users. Cursors before an
   * old change or the deletion of such a user expire.
   *
   * @throws TenureEndedError
   */
  async prune(lease: Lease, retentionMs: number): Promise<void> {
    await this.#database.transaction(async transaction => {
      await updateLease(transaction, lease);
      const olderThan = (ms: number) =>
        transaction(EVENTS).where('time', '<', timeOf(transaction, -ms));
      const deletions = olderThan(DELETED_USERS_MS)
        .where({ kind: 'user_deleted' })
        .whereNotIn('entry_id', transaction(ENTRIES).select('id'));
      const [{ old }] = await olderThan(retentionMs).max({ old: 'id' });
      const [{ deleted }] = await deletions.clone().max({ deleted: 'id' });
      const first = Math.max(Number(old), Number(deleted));
      await transaction(LOG)
        .where('first_id', '<', first)
        .update({ first_id: first });
      const users = deletions.select('entry_id');
      await transaction(EVENTS)
        .where('id', '<=', Number(old))
        .orWhereIn('entry_id', users)
        .orWhereIn('member_id', users.clone())
        .delete();
      await emptyFormer(transaction, Math.min(retentionMs, DELETED_USERS_MS));
    });
  }
}

/**
 * Empties the tables of 0.2.0, which are kept for a downgrade, when all their
 * changes are older than the retention. 0.2.0 then records all entries again.
 */
async function emptyFormer(
  transaction: Database,
  retentionMs: number,
): Promise<void> {
  const [changes] = FORMER;
  const recent = await transaction(changes)
    .where('time', '>=', timeOf(transaction, -retentionMs))
    .first('id');
  if (!recent) {
    for (const table of FORMER) {
      await transaction(table).delete();
    }
    const first_id = transaction.ref('last_id');
    await transaction(LEASE).update({ is_complete: false, first_id });
  }
}

/** Returns an expression for the database's clock. */
function timeOf(database: Database, plusMs = 0) {
  return database.client.config.client === 'pg'
    ? database.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [plusMs])
    : // Knex stores dates in SQLite as milliseconds since the epoch.
      database.raw(
        `cast((julianday('now') - 2440587.5) * 86400000 as integer) + ?`,
        [plusMs],
      );
}

/**
 * Updates the row of the lease, which also locks it.
 *
 * @throws TenureEndedError
 */
async function updateLease(
  database: Database,
  { token }: Lease,
  values: Record<string, unknown> = { fence: token },
): Promise<void> {
  const updated = await database(LEASE).where({ fence: token }).update(values);
  if (updated === 0) {
    throw new TenureEndedError('Another process is writing the change log now');
  }
}

/** Writes rows in slices; other requests are served in between. */
async function inSlices<T>(
  items: readonly T[],
  write: (slice: T[]) => PromiseLike<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    await write(items.slice(start, start + ROWS_PER_STATEMENT));
    await nextTurn();
  }
}
