import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangedEntry, ChangeKind } from './ChangeLog';
import type { ChangeBatch } from './KnownEntries';
import type { Position } from './Position';

export const LEASE = 'directory_change_writer';
export const LOG = 'directory_change_log';
export const EVENTS = 'directory_change_events';
export const ENTRIES = 'directory_known_entries';
export const MEMBERS = 'directory_known_members';

/** Rows per statement: SQLite and PostgreSQL limit its parameters. */
const ROWS_PER_STATEMENT = 500;

/** Time for which a process may write without renewing its lease. */
const LEASE_MS = 15_000;

/** An event that is to be logged. */
export interface NewEvent {
  readonly kind: ChangeKind;
  readonly entry: { readonly id: string; readonly name: string };
  readonly member?: Pick<ChangedEntry, 'id' | 'kind' | 'name'>;
  readonly oldName?: string;
}

/** A user or group as recorded in the database. */
export interface StoredEntry {
  /** Stable ID. */
  readonly id: string;
  readonly kind: 'user' | 'group';
  /** `undefined` for a group that is not served. */
  readonly name: string | undefined;
  readonly locked: boolean;
  readonly salt: string;
  readonly digest: string;
}

/** A direct membership, by stable IDs. */
export interface Edge {
  readonly groupId: string;
  readonly memberId: string;
}

/** The right to write, until another process acquires it. */
export interface Lease {
  readonly token: number;
  /** Whether all entries are recorded: events are logged from then. */
  readonly isComplete: boolean;
  /** Position of the last write; `undefined` before the first one. */
  readonly position: Position | undefined;
}

/** Another process has acquired the lease. */
export class LeaseLostError extends Error {}

/** Returns an expression for the database's clock. */
export function databaseTime(database: Database, plusMs = 0) {
  return database.client.config.client === 'pg'
    ? database.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [plusMs])
    : // Knex stores dates in SQLite as milliseconds since the epoch.
      database.raw(
        `cast((julianday('now') - 2440587.5) * 86400000 as integer) + ?`,
        [plusMs],
      );
}

/**
 * Writes the change log. One process at a time holds the lease: each write is
 * one transaction that locks its row and compares the token.
 */
export class ChangeStore {
  readonly #database: Database;
  readonly #definition: string;
  readonly #holder = randomUUID();

  /**
   * @param options.definition - identifies what determines the entries and
   *   their digests. If it changes, all entries are recorded without events,
   *   and the log gets another ID.
   */
  constructor(options: {
    readonly database: Database;
    readonly definition: string;
  }) {
    this.#database = options.database;
    this.#definition = options.definition;
  }

  /** Acquires the lease, unless another process holds it. */
  async acquire(): Promise<Lease | undefined> {
    const holder = this.#holder;
    const definition = this.#definition;
    return this.#database.transaction(async transaction => {
      const acquired = await transaction(LEASE)
        .where(query =>
          query
            .where('expires_at', '<', databaseTime(transaction))
            .orWhere({ holder }),
        )
        .update({
          holder,
          fence: transaction.raw('fence + 1'),
          expires_at: databaseTime(transaction, LEASE_MS),
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
      const { is_complete, server, position } = await transaction(LOG).first();
      return {
        token: Number(fence),
        isComplete: Boolean(is_complete),
        position: server === null ? undefined : { server, value: position },
      };
    });
  }

  /** @throws LeaseLostError */
  async renew(lease: Lease): Promise<void> {
    await lockLease(this.#database, lease);
  }

  /** Ends the lease, so that another process can acquire it at once. */
  async release({ token }: Lease): Promise<void> {
    await this.#database(LEASE)
      .where({ fence: token })
      .update({ expires_at: new Date(0) });
  }

  /** Reads the recorded entries in pages. */
  async *entries(): AsyncIterable<readonly StoredEntry[]> {
    for (let after = ''; ;) {
      const rows = await this.#database(ENTRIES)
        .where('id', '>', after)
        .orderBy('id')
        .limit(ROWS_PER_STATEMENT);
      if (rows.length === 0) {
        return;
      }
      after = rows.at(-1).id;
      yield rows.map(row => ({
        ...row,
        name: row.name ?? undefined,
        locked: Boolean(row.locked),
      }));
    }
  }

  /** Reads the direct memberships in pages. */
  async *edges(): AsyncIterable<readonly Edge[]> {
    for (let after = ['', '']; ;) {
      const rows = await this.#database(MEMBERS)
        .whereRaw('(member_id, group_id) > (?, ?)', after)
        .orderBy(['member_id', 'group_id'])
        .limit(ROWS_PER_STATEMENT)
        .select({ memberId: 'member_id', groupId: 'group_id' });
      if (rows.length === 0) {
        return;
      }
      const { memberId, groupId } = rows.at(-1);
      after = [memberId, groupId];
      yield rows;
    }
  }

  /**
   * Appends events, and records the entries and memberships behind them.
   *
   * @param options.position - where the server stood when the batch was
   *   compared
   * @param options.isStrict - whether differences were postponed: the position
   *   of the last complete write is kept
   * @throws LeaseLostError when another process holds the lease; nothing is
   *   written.
   */
  async append(
    lease: Lease,
    batch: Omit<ChangeBatch, 'postponed'>,
    options: {
      readonly position: Position;
      readonly isStrict: boolean;
      readonly isComplete: boolean;
    },
  ): Promise<void> {
    const { isStrict, isComplete } = options;
    const { server, value: position } = options.position;
    await this.#database.transaction(async transaction => {
      await lockLease(transaction, lease);
      const [{ now }] = await transaction.select({
        now: databaseTime(transaction),
      });
      const { last_id } = await transaction(LOG).first('last_id');
      const last = Number(last_id);
      const events = isComplete ? batch.events : [];
      for (const [start, slice] of slicesOf(events)) {
        await transaction(EVENTS).insert(
          slice.map(({ kind, entry, member, oldName }, index) => ({
            id: last + 1 + start + index,
            time: now,
            kind,
            entry_id: entry.id,
            name: entry.name,
            old_name: oldName ?? null,
            member_kind: member?.kind ?? null,
            member_id: member?.id ?? null,
            member_name: member?.name ?? null,
            server,
            position,
          })),
        );
        await nextTurn();
      }
      await recordEntries(transaction, batch, isComplete ? now : null);
      await transaction(LOG).update({
        is_complete: isComplete,
        last_id: last + events.length,
        ...(isStrict ? {} : { server, position }),
      });
    });
  }

  /**
   * Deletes old events, and the events of users who were deleted some time ago.
   *
   * @throws LeaseLostError
   */
  async prune(
    lease: Lease,
    options: {
      readonly retentionMs: number;
      readonly deletedUsersMs: number;
    },
  ): Promise<void> {
    const { retentionMs, deletedUsersMs } = options;
    await this.#database.transaction(async transaction => {
      await lockLease(transaction, lease);
      const olderThan = (ms: number) =>
        transaction(EVENTS).where('time', '<', databaseTime(transaction, -ms));
      const [{ last }] = await olderThan(retentionMs).max({ last: 'id' });
      if (last !== null) {
        await transaction(EVENTS).where('id', '<=', last).delete();
        await transaction(LOG)
          .where('first_id', '<', last)
          .update({ first_id: last });
      }
      const deleted = olderThan(deletedUsersMs)
        .where({ kind: 'user_deleted' })
        .whereNotIn('entry_id', transaction(ENTRIES).select('id'))
        .select('entry_id');
      await transaction(EVENTS)
        .whereIn('entry_id', deleted)
        .orWhereIn('member_id', deleted.clone())
        .delete();
    });
  }
}

/** Locks the row of the lease, and renews the lease. */
async function lockLease(database: Database, { token }: Lease): Promise<void> {
  const locked = await database(LEASE)
    .where({ fence: token })
    .update({ expires_at: databaseTime(database, LEASE_MS) });
  if (locked === 0) {
    throw new LeaseLostError('Another process is writing the change log');
  }
}

async function recordEntries(
  transaction: Database,
  { entries, deleted, added, removed }: Omit<ChangeBatch, 'postponed'>,
  since: unknown,
): Promise<void> {
  for (const [, ids] of slicesOf(deleted)) {
    await transaction(ENTRIES).whereIn('id', ids).delete();
    await transaction(MEMBERS).whereIn('group_id', ids).delete();
    await transaction(MEMBERS).whereIn('member_id', ids).delete();
    await nextTurn();
  }
  for (const [, slice] of slicesOf(entries)) {
    await transaction(ENTRIES)
      .insert(slice.map(entry => ({ ...entry, name: entry.name ?? null })))
      .onConflict('id')
      .merge();
    await nextTurn();
  }
  for (const [, slice] of slicesOf(removed)) {
    await transaction(MEMBERS)
      .whereIn(
        ['member_id', 'group_id'],
        slice.map(({ memberId, groupId }) => [memberId, groupId]),
      )
      .delete();
    await nextTurn();
  }
  for (const [, slice] of slicesOf(added)) {
    await transaction(MEMBERS).insert(
      slice.map(({ memberId, groupId }) => ({
        member_id: memberId,
        group_id: groupId,
        since,
      })),
    );
    await nextTurn();
  }
}

/** Yields the parts of a list with their start. */
function* slicesOf<T>(
  items: readonly T[],
): Iterable<readonly [start: number, slice: readonly T[]]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    yield [start, items.slice(start, start + ROWS_PER_STATEMENT)];
  }
}
