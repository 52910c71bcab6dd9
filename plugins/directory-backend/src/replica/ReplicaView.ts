import { isGroupName, isUserName } from '../directory/names';
import type { Group, User } from '../directory/records';
import type { MemberRanks } from './tables/MemberRanks';
import { inAll, includes } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';
import type { ReadableRecords } from './tables/ServedRecords';

/** Returns the keys of entries. */
export interface EntryKeys {
  /** Of the user of a valid name. */
  readonly user: (username: string) => string;
  /** Of the group of a valid name. */
  readonly group: (groupname: string) => string;
  /** Of the entry of a distinguished name. */
  readonly entry: (dn: string) => string;
}

/** Data of a {@link ReplicaView}. */
export interface ReplicaViewOptions {
  readonly tables: ReplicaTables;
  readonly members: MemberRanks;
  readonly keys: EntryKeys;
}

/** Ranks of users and groups; `undefined` for all. */
interface VisibleRanks {
  readonly users?: Uint32Array;
  readonly groups?: Uint32Array;
}

/** The replica with the entries that a request may see. */
export class ReplicaView {
  readonly tables: ReplicaTables;
  readonly members: MemberRanks;
  readonly keys: EntryKeys;
  readonly #visible: VisibleRanks;

  constructor(options: ReplicaViewOptions, visible: VisibleRanks = {}) {
    this.tables = options.tables;
    this.members = options.members;
    this.keys = options.keys;
    this.#visible = visible;
  }

  /** A visible user by name. */
  user(query: {
    readonly username: string;
    readonly unlockedOnly?: boolean;
  }): ServedRecord<User> | undefined {
    const { username, unlockedOnly } = query;
    const row = isUserName(username)
      ? this.tables.users.served.get(this.keys.user(username))
      : undefined;
    const isExcluded = unlockedOnly && row?.record.locked;
    return row && !isExcluded && this.#shows('users', row.key)
      ? row
      : undefined;
  }

  /** A visible group by name. */
  group(groupname: string): ServedRecord<Group> | undefined {
    return isGroupName(groupname)
      ? this.groupOf(this.keys.group(groupname))
      : undefined;
  }

  /** A visible group by its key. */
  groupOf(key: string): ServedRecord<Group> | undefined {
    const row = this.tables.groups.served.get(key);
    return row && this.#shows('groups', key) ? row : undefined;
  }

  /** The visible ones among users or groups. */
  within(kind: 'users' | 'groups', ranks: Uint32Array): Uint32Array {
    const visible = this.#visible[kind];
    return visible ? inAll([ranks, visible]) : ranks;
  }

  /** Ranks of all visible users or groups; `'all'` without a restriction. */
  all(kind: 'users' | 'groups'): Uint32Array | 'all' {
    return this.#visible[kind] ?? 'all';
  }

  #shows(kind: 'users' | 'groups', key: string): boolean {
    const visible = this.#visible[kind];
    if (!visible) {
      return true;
    }
    const served: Pick<ReadableRecords<User & Group>, 'ranksOf'> = this.tables[
      kind
    ].served;
    return includes(visible, served.ranksOf([key])[0]);
  }
}
