import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import type { Page, PageRequest } from '../directory/Page';

const WRITER = 'directory_change_writer';
const ENTRIES = 'directory_change_entries';
const MEMBERS = 'directory_change_members';
const CHANGES = 'directory_changes';

/** Rows per statement: SQLite and PostgreSQL limit its parameters. */
const ROWS_PER_STATEMENT = 500;

/** Time for which a process may write without renewing its lease. */
export const LEASE_MS = 15_000;

/** Kind of a change. */
export type ChangeKind =
  | 'user_created'
  | 'user_changed'
  | 'user_renamed'
  | 'user_deleted'
  | 'user_locked'
  | 'user_unlocked'
  | 'group_created'
  | 'group_changed'
  | 'group_renamed'
  | 'group_deleted'
  | 'member_added'
  | 'member_removed';

/** A user or group that a change is about. */
export interface ChangedEntry {
  readonly kind: 'user' | 'group';
  /** Name at the time of the change. */
  readonly name: string;
  /** Current name; `undefined` when the entry has been deleted since. */
  readonly presentName?: string;
}

/** A change in the directory. */
export interface Change {
  /** Increases in commit order; some numbers are not used. */
  readonly id: number;
  /** Time when the change was found. */
  readonly time: Date;
  readonly kind: ChangeKind;
  /** The user or group; of `member_added` and `member_removed` the group. */
  readonly subject: ChangedEntry;
  /** The direct member that was added or removed. */
  readonly member?: ChangedEntry;
  /** The name before a rename. */
  readonly oldName?: string;
  /**
   * For `*_changed`: names of the API fields that changed, except fields that
   * were hidden at the time of the change.
   */
  readonly fields?: readonly string[];
}

/** A user or group as recorded in the log. */
export interface RecordedEntry {
  readonly id: number;
  readonly kind: 'user' | 'group';
  /** Normalized DN. */
  readonly key: string;
  readonly uniqueId: string | undefined;
  readonly name: string;
  readonly locked: boolean;
  /** JSON object of HMACs by field name. */
  readonly digests: string;
  /** ID of the key that created the digests. */
  readonly keyId: string;
}

/** A change that is to be logged. */
export interface NewChange {
  readonly kind: ChangeKind;
  readonly entry: Pick<RecordedEntry, 'id' | 'kind' | 'key' | 'name'>;
  readonly member?: Pick<RecordedEntry, 'id' | 'name'>;
  readonly oldName?: string;
  readonly fields?: readonly string[];
}

/** A membership by the ids of both entries. */
export type Membership = readonly [group: number, member: number];

/** Data that an append writes in one transaction. */
export interface ChangeBatch {
  readonly changes: readonly NewChange[];
  /** New and changed entries. */
  readonly entries: readonly RecordedEntry[];
  /** IDs of deleted entries. */
  readonly deleted: readonly number[];
  readonly added: readonly Membership[];
  readonly removed: readonly Membership[];
}

/** State of the recorded entries, stored with each append. */
export interface RecordState {
  /** JSON of the replica's position. */
  readonly position: string;
  /** Whether all entries are recorded. */
  readonly isComplete: boolean;
}

/** The right to append, until another process acquires it. */
export interface Lease {
  readonly fence: number;
  /** ID of the last recorded entry. */
  readonly lastEntryId: number;
  /** `undefined` before the first append. */
  readonly state: RecordState | undefined;
}

/** Another process has acquired the lease. */
export class LeaseLostError extends Error {}

/**
 * The durable log of changes, in the plugin's database. One process at a time
 * appends to it; all processes read it.
 */
export class ChangeLog {
  readonly #database: Database;
  readonly #holder = randomUUID();
  readonly #listeners = new Set<() => void>();

  private constructor(
    database: Database,
    /** Identifies the log; a new database has a different ID. */
    readonly logId: string,
  ) {
    this.#database = database;
  }

  /** Opens the log in a migrated database. */
  static async open(database: Database): Promise<ChangeLog> {
    await database(WRITER)
      .insert({
        id: 1,
        log_id: randomUUID(),
        fence: 0,
        expires_at: new Date(0),
        first_id: 0,
        last_id: 0,
        last_entry_id: 0,
        is_complete: false,
      })
      .onConflict('id')
      .ignore();
    const { log_id } = await database(WRITER).first('log_id');
    return new ChangeLog(database, log_id);
  }

  /** The lowest ID that {@link read} accepts, and the ID of the last change. */
  async position(): Promise<{ readonly first: number; readonly last: number }> {
    const row = await this.#database(WRITER).first('first_id', 'last_id');
    return { first: Number(row.first_id), last: Number(row.last_id) };
  }

  /**
   * Returns the changes after an ID in order, and the ID up to which the log
   * was read; `undefined` when the ID is before the retained changes, or after
   * the last one, for example after the database was restored from a backup.
   */
  async read(options: {
    readonly after: number;
    readonly limit: number;
  }): Promise<
    | {
        readonly changes: readonly Change[];
        readonly last: number;
        readonly hasMore: boolean;
      }
    | undefined
  > {
    const { after, limit } = options;
    const rows: ChangeRow[] = await this.#rows()
      .where(`${CHANGES}.id`, '>', after)
      .orderBy(`${CHANGES}.id`)
      .limit(limit + 1);
    // Read last, so that changes deleted in the meantime are detected.
    const { first, last } = await this.position();
    if (after < first || after > last) {
      return undefined;
    }
    const changes = rows.slice(0, limit).map(changeOf);
    return {
      changes,
      last: changes.at(-1)?.id ?? after,
      hasMore: rows.length > limit,
    };
  }

  /**
   * Returns a page of the latest changes with a recorded entry as subject or
   * member, latest first.
   *
   * @throws Error before all entries are recorded.
   */
  async changesOf(options: {
    readonly kind: 'user' | 'group';
    /** The current name. */
    readonly name: string;
    readonly kinds: readonly ChangeKind[];
    /** Maximum number of changes on all pages; older ones are omitted. */
    readonly max: number;
    readonly page: PageRequest;
  }): Promise<Page<Change>> {
    const { kinds, max, page } = options;
    const entry = await this.#findEntry(options);
    if (!entry) {
      return { items: [], total: 0 };
    }
    const latest = this.#database(CHANGES)
      .where(query =>
        query.where('entry_id', entry.id).orWhere('member_id', entry.id),
      )
      .whereIn('kind', kinds)
      .orderBy('id', 'desc')
      .select('id');
    const [{ total }] = await this.#database
      .from(latest.clone().limit(max).as('latest'))
      .count({ total: '*' });
    const offset = Math.min(max, (page.number - 1) * page.size);
    const size = Math.min(max - offset, page.size);
    const rows: ChangeRow[] = await this.#rows()
      .whereIn(`${CHANGES}.id`, latest.offset(offset).limit(size))
      .orderBy(`${CHANGES}.id`, 'desc');
    return { items: rows.map(changeOf), total: Number(total) };
  }

  /**
   * Returns when the direct user members of a group were added, by their
   * current names. Omits users who were members before the log began.
   *
   * @param groupname - the current name
   * @param usernames - only these members. Default: all.
   * @throws Error before all entries are recorded.
   */
  async joinTimesOf(
    groupname: string,
    usernames?: readonly string[],
  ): Promise<ReadonlyMap<string, Date>> {
    const entry = await this.#findEntry({ kind: 'group', name: groupname });
    if (!entry) {
      return new Map();
    }
    const latest = this.#database(CHANGES)
      .max('id')
      .where({ entry_id: entry.id })
      .whereIn('kind', ['member_added', 'member_removed'])
      .groupBy('member_id');
    if (usernames) {
      const members = this.#database(ENTRIES)
        .where({ kind: 'user' })
        .whereIn('name', [...usernames]);
      latest.whereIn('member_id', members.select('id'));
    }
    const rows: { name: string; time: Date | number }[] = await this.#database(
      CHANGES,
    )
      .join({ member: ENTRIES }, 'member.id', `${CHANGES}.member_id`)
      .whereIn(`${CHANGES}.id`, latest)
      .where({ [`${CHANGES}.kind`]: 'member_added', 'member.kind': 'user' })
      .whereNotNull('member.key')
      .select({ name: 'member.name', time: `${CHANGES}.time` });
    return new Map(rows.map(({ name, time }) => [name, new Date(time)]));
  }

  async #findEntry({
    kind,
    name,
  }: {
    readonly kind: 'user' | 'group';
    readonly name: string;
  }): Promise<{ readonly id: number } | undefined> {
    const { is_complete } = await this.#database(WRITER).first('is_complete');
    if (!is_complete) {
      throw new Error('The change log does not contain all entries yet');
    }
    return await this.#database(ENTRIES)
      .where({ kind, name })
      .whereNotNull('key')
      .first('id');
  }

  #rows() {
    return this.#database(CHANGES)
      .leftJoin({ entry: ENTRIES }, 'entry.id', `${CHANGES}.entry_id`)
      .leftJoin({ member: ENTRIES }, 'member.id', `${CHANGES}.member_id`)
      .select(
        `${CHANGES}.*`,
        { entry_key: 'entry.key', present_name: 'entry.name' },
        {
          member_key: 'member.key',
          member_present_name: 'member.name',
          member_kind: 'member.kind',
        },
      );
  }

  /** Calls a listener after the appends of this process. */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Acquires the lease, or returns when the lease of another process expires,
   * in milliseconds since the epoch.
   */
  async acquire(): Promise<
    | { readonly lease: Lease; readonly expiresAt?: never }
    | { readonly lease: undefined; readonly expiresAt: number }
  > {
    const now = Date.now();
    const holder = this.#holder;
    const acquired = await this.#database(WRITER)
      .where(query =>
        query.where('expires_at', '<', new Date(now)).orWhere({ holder }),
      )
      .update({
        holder,
        fence: this.#database.raw('fence + 1'),
        expires_at: new Date(now + LEASE_MS),
      });
    const row = await this.#database(WRITER).first();
    if (acquired === 0 || row.holder !== holder) {
      return { lease: undefined, expiresAt: Number(new Date(row.expires_at)) };
    }
    return {
      lease: {
        fence: Number(row.fence),
        lastEntryId: row.last_entry_id,
        state:
          row.position === null
            ? undefined
            : {
                position: row.position,
                isComplete: Boolean(row.is_complete),
              },
      },
    };
  }

  /** @throws LeaseLostError */
  async renew({ fence }: Lease): Promise<void> {
    await requireLease(this.#database, fence, {});
  }

  /** Ends the lease, so that another process can acquire it at once. */
  async release({ fence }: Lease): Promise<void> {
    await this.#database(WRITER)
      .where({ fence })
      .update({ expires_at: new Date(0) });
  }

  /** Reads the recorded entries in pages, and the members of groups by id. */
  async *entries(): AsyncIterable<
    readonly (RecordedEntry & { readonly members: readonly number[] })[]
  > {
    let after = 0;
    for (;;) {
      const rows = await this.#database(ENTRIES)
        .where('id', '>', after)
        .whereNotNull('key')
        .orderBy('id')
        .limit(ROWS_PER_STATEMENT);
      if (rows.length === 0) {
        return;
      }
      const first = after;
      after = rows[rows.length - 1].id;
      const members = new Map<number, number[]>();
      for (const { group_id, member_id } of await this.#database(MEMBERS)
        .where('group_id', '>', first)
        .where('group_id', '<=', after)) {
        const listed = members.get(group_id) ?? [];
        members.set(group_id, listed);
        listed.push(member_id);
      }
      yield rows.map(row => ({
        id: row.id,
        kind: row.kind,
        key: row.key,
        uniqueId: row.unique_id ?? undefined,
        name: row.name,
        locked: Boolean(row.locked),
        digests: row.digests,
        keyId: row.key_id,
        members: members.get(row.id) ?? [],
      }));
    }
  }

  /**
   * Appends changes and records the entries that they affect.
   *
   * @throws LeaseLostError when another process holds the lease; nothing is
   *   written.
   */
  async append(
    { fence }: Lease,
    batch: ChangeBatch,
    state: RecordState & { readonly lastEntryId: number },
  ): Promise<void> {
    const time = new Date();
    await this.#database.transaction(async transaction => {
      const { last_id } = await requireLease(transaction, fence, {
        position: state.position,
        is_complete: state.isComplete,
        last_entry_id: state.lastEntryId,
      });
      const last = Number(last_id);
      const { changes } = batch;
      await transaction.batchInsert(
        CHANGES,
        changes.map((change, index) => ({
          id: last + 1 + index,
          time,
          kind: change.kind,
          entry_id: change.entry.id,
          name: change.entry.name,
          old_name: change.oldName ?? null,
          member_id: change.member?.id ?? null,
          member_name: change.member?.name ?? null,
          fields: change.fields ? JSON.stringify(change.fields) : null,
        })),
        ROWS_PER_STATEMENT,
      );
      await recordEntries(transaction, batch, time);
      if (changes.length > 0) {
        await transaction(WRITER).update({ last_id: last + changes.length });
      }
    });
    if (batch.changes.length > 0) {
      this.#listeners.forEach(listener => listener());
    }
  }

  /**
   * Deletes changes before a time, and replaces the names of users who were
   * deleted before another time.
   *
   * @throws LeaseLostError
   */
  async prune(
    { fence }: Lease,
    options: { readonly before: Date; readonly deletedBefore: Date },
  ): Promise<void> {
    const { before, deletedBefore } = options;
    await this.#database.transaction(async transaction => {
      await requireLease(transaction, fence, {});
      const [{ last }] = await transaction(CHANGES)
        .where('time', '<', before)
        .max({ last: 'id' });
      if (last !== null) {
        await transaction(CHANGES).where('id', '<=', last).delete();
        await transaction(WRITER).update({ first_id: last });
      }
      await transaction(ENTRIES).where('deleted_at', '<', before).delete();
      const users = await transaction(ENTRIES)
        .where({ kind: 'user', is_pseudonym: false })
        .where('deleted_at', '<', deletedBefore)
        .select('id');
      for (const { id } of users) {
        const name = `deleted-user-${id}`;
        await transaction(ENTRIES)
          .where({ id })
          .update({ name, is_pseudonym: true });
        await transaction(CHANGES).where({ entry_id: id }).update({ name });
        await transaction(CHANGES)
          .where({ entry_id: id })
          .whereNotNull('old_name')
          .update({ old_name: name });
        await transaction(CHANGES)
          .where({ member_id: id })
          .update({ member_name: name });
      }
    });
  }
}

/** Locks the writer's row, so that appends are in commit order. */
async function requireLease(
  database: Database,
  fence: number,
  update: Readonly<Record<string, unknown>>,
): Promise<{ readonly last_id: number | string }> {
  const rows = await database(WRITER)
    .where({ fence })
    .update({ ...update, expires_at: new Date(Date.now() + LEASE_MS) })
    .returning('last_id');
  if (rows.length === 0) {
    throw new LeaseLostError('Another process is writing the change log');
  }
  return rows[0];
}

async function recordEntries(
  transaction: Database,
  { entries, deleted, added, removed }: ChangeBatch,
  time: Date,
): Promise<void> {
  // Deletions come first: a new entry can have the key of a deleted one.
  for (const ids of slicesOf(deleted)) {
    await transaction(ENTRIES).whereIn('id', ids).update({
      key: null,
      unique_id: null,
      digests: '{}',
      deleted_at: time,
    });
    await transaction(MEMBERS).whereIn('group_id', ids).delete();
    await transaction(MEMBERS).whereIn('member_id', ids).delete();
  }
  for (const slice of slicesOf(entries)) {
    await transaction(ENTRIES)
      .insert(
        slice.map(entry => ({
          id: entry.id,
          kind: entry.kind,
          key: entry.key,
          unique_id: entry.uniqueId ?? null,
          name: entry.name,
          locked: entry.locked,
          digests: entry.digests,
          key_id: entry.keyId,
          is_pseudonym: false,
        })),
      )
      .onConflict('id')
      .merge();
  }
  for (const slice of slicesOf(removed)) {
    await transaction(MEMBERS)
      .whereIn(['group_id', 'member_id'], slice as [number, number][])
      .delete();
  }
  await transaction.batchInsert(
    MEMBERS,
    added.map(([group_id, member_id]) => ({ group_id, member_id })),
    ROWS_PER_STATEMENT,
  );
}

function* slicesOf<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += ROWS_PER_STATEMENT) {
    yield items.slice(at, at + ROWS_PER_STATEMENT);
  }
}

/** A change and the entries that it affects. */
interface ChangeRow {
  readonly id: number | string;
  readonly time: Date | number;
  readonly kind: ChangeKind;
  readonly name: string;
  readonly old_name: string | null;
  readonly member_id: number | null;
  readonly member_name: string;
  readonly member_kind: 'user' | 'group';
  readonly fields: string | null;
  /** `null` when the entry has been deleted. */
  readonly entry_key: string | null;
  readonly present_name: string;
  readonly member_key: string | null;
  readonly member_present_name: string;
}

function changeOf(row: ChangeRow): Change {
  const isOfUser = row.kind.startsWith('user_');
  return {
    id: Number(row.id),
    time: new Date(row.time),
    kind: row.kind,
    subject: {
      kind: isOfUser ? 'user' : 'group',
      name: row.name,
      presentName: row.entry_key === null ? undefined : row.present_name,
    },
    member:
      row.member_id === null
        ? undefined
        : {
            kind: row.member_kind,
            name: row.member_name,
            presentName:
              row.member_key === null ? undefined : row.member_present_name,
          },
    oldName: row.old_name ?? undefined,
    fields: row.fields === null ? undefined : JSON.parse(row.fields),
  };
}
