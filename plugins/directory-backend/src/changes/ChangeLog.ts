import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import type { Page, PageRequest } from '../directory/Page';
import {
  databaseTime,
  ENTRIES,
  EVENTS,
  LEASE,
  LOG,
  MEMBERS,
} from './ChangeStore';
import type { Position } from './Position';

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
  | 'member_removed'
  | 'members_changed';

/** A user or group that a change is about. */
export interface ChangedEntry {
  /** Stable ID. */
  readonly id: string;
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
  /** Time when the change was recorded. */
  readonly time: Date;
  readonly kind: ChangeKind;
  /** The user or group; the group of changes of members. */
  readonly subject: ChangedEntry;
  /** The user or served group that was added or removed, directly or not. */
  readonly member?: ChangedEntry;
  /** The name before a rename. */
  readonly oldName?: string;
  /** Where the server stood at the time of the change. */
  readonly position: Position;
}

/** State of the log. */
export interface ChangeLogState {
  /** Identifies the log in cursors. */
  readonly logId: string;
  /** ID before the first retained change. */
  readonly first: number;
  /** ID of the last change. */
  readonly last: number;
  /** Whether all entries are recorded. */
  readonly isComplete: boolean;
  /** Whether a process writes the log, after all entries were recorded. */
  readonly isWritten: boolean;
  /** The database's time. */
  readonly now: Date;
}

/** Reads the log of changes in the plugin's database. */
export class ChangeLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async state(): Promise<ChangeLogState> {
    const row = await this.#database(LOG)
      .join(LEASE, `${LEASE}.id`, `${LOG}.id`)
      .first(`${LOG}.*`, `${LEASE}.expires_at`, {
        now: databaseTime(this.#database),
      });
    const now = new Date(row.now);
    const isComplete = Boolean(row.is_complete);
    return {
      logId: row.log_id,
      first: Number(row.first_id),
      last: Number(row.last_id),
      isComplete,
      isWritten: isComplete && new Date(row.expires_at) > now,
      now,
    };
  }

  /** Returns the changes after an ID in order. */
  async readAfter(id: number, limit: number): Promise<readonly Change[]> {
    const rows: ChangeRow[] = await this.#rows()
      .where(`${EVENTS}.id`, '>', id)
      .orderBy(`${EVENTS}.id`)
      .limit(limit);
    return rows.map(changeOf);
  }

  /** Returns the changes up to an ID, latest first. */
  async readUpTo(id: number, limit: number): Promise<readonly Change[]> {
    const rows: ChangeRow[] = await this.#rows()
      .where(`${EVENTS}.id`, '<=', id)
      .orderBy(`${EVENTS}.id`, 'desc')
      .limit(limit);
    return rows.map(changeOf);
  }

  /**
   * Returns a page of the latest changes with an entry as subject or member,
   * latest first.
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
    const id = await this.#findId(options);
    if (id === undefined) {
      return { items: [], total: 0 };
    }
    const latest = this.#database(EVENTS)
      .where(query => query.where('entry_id', id).orWhere('member_id', id))
      .whereIn('kind', kinds)
      .orderBy('id', 'desc')
      .select('id');
    const [{ total }] = await this.#database
      .from(latest.clone().limit(max).as('latest'))
      .count({ total: '*' });
    const offset = Math.min(max, (page.number - 1) * page.size);
    const size = Math.min(max - offset, page.size);
    const rows: ChangeRow[] = await this.#rows()
      .whereIn(`${EVENTS}.id`, latest.offset(offset).limit(size))
      .orderBy(`${EVENTS}.id`, 'desc');
    return { items: rows.map(changeOf), total: Number(total) };
  }

  /**
   * Returns when the direct user members of a group were added, by their
   * current names. Omits users who were members before the log began.
   *
   * @param groupname - the current name
   * @param usernames - only these members. Default: all.
   */
  async joinTimesOf(
    groupname: string,
    usernames?: readonly string[],
  ): Promise<ReadonlyMap<string, Date>> {
    const id = await this.#findId({ kind: 'group', name: groupname });
    if (id === undefined) {
      return new Map();
    }
    const query = this.#database(MEMBERS)
      .join({ member: ENTRIES }, 'member.id', `${MEMBERS}.member_id`)
      .where({ group_id: id, 'member.kind': 'user' })
      .whereNotNull('since')
      .select({ name: 'member.name', since: 'since' });
    if (usernames) {
      query.whereIn('member.name', [...usernames]);
    }
    const rows: { name: string; since: Date | number }[] = await query;
    return new Map(rows.map(({ name, since }) => [name, new Date(since)]));
  }

  async #findId(entry: {
    readonly kind: 'user' | 'group';
    readonly name: string;
  }): Promise<string | undefined> {
    const { kind, name } = entry;
    const row = await this.#database(ENTRIES).where({ kind, name }).first('id');
    return row?.id;
  }

  #rows() {
    return this.#database(EVENTS)
      .leftJoin({ entry: ENTRIES }, 'entry.id', `${EVENTS}.entry_id`)
      .leftJoin({ member: ENTRIES }, 'member.id', `${EVENTS}.member_id`)
      .select(
        `${EVENTS}.*`,
        { present_name: 'entry.name' },
        { member_present_name: 'member.name' },
      );
  }
}

/** A change, and the present names of the entries that it affects. */
interface ChangeRow {
  readonly id: number | string;
  readonly time: Date | number;
  readonly kind: ChangeKind;
  readonly entry_id: string;
  readonly name: string;
  readonly old_name: string | null;
  readonly member_kind: 'user' | 'group';
  readonly member_id: string | null;
  readonly member_name: string;
  readonly server: string;
  readonly position: string;
  readonly present_name: string | null;
  readonly member_present_name: string | null;
}

function changeOf(row: ChangeRow): Change {
  return {
    id: Number(row.id),
    time: new Date(row.time),
    kind: row.kind,
    subject: {
      id: row.entry_id,
      kind: row.kind.startsWith('user_') ? 'user' : 'group',
      name: row.name,
      presentName: row.present_name ?? undefined,
    },
    member:
      row.member_id === null
        ? undefined
        : {
            id: row.member_id,
            kind: row.member_kind,
            name: row.member_name,
            presentName: row.member_present_name ?? undefined,
          },
    oldName: row.old_name ?? undefined,
    position: { server: row.server, value: row.position },
  };
}
