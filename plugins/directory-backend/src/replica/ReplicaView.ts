import { isGroupName, isUserName } from '../directory/names';
import type { Group, User } from '../directory/records';
import type { MemberRanks } from './tables/MemberRanks';
import { inAll, includes } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';
import type { ReadableRecords } from './tables/ServedRecords';

/** Functions that return the keys of entries. */
export interface EntryKeys {
  /** Key of the user with a valid name. */
  readonly user: (username: string) => string;
  /** Key of the group with a valid name. */
  readonly group: (groupname: string) => string;
  /** Key of the entry with a distinguished name. */
  readonly entry: (dn: string) => string;
}

/** Options of {@link ReplicaView}. */
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

/** The part of the replica that a request may see. */
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

  /** Returns a visible user by name. */
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

  /** Returns a visible group by name. */
  group(groupname: string): ServedRecord<Group> | undefined {
    return isGroupName(groupname)
      ? this.groupOf(this.keys.group(groupname))
      : undefined;
  }

  /** Returns a visible group by key. */
  groupOf(key: string): ServedRecord<Group> | undefined {
    const row = this.tables.groups.served.get(key);
    return row && this.#shows('groups', key) ? row : undefined;
  }

  /** Returns the ranks of visible users or groups among these. */
  within(kind: 'users' | 'groups', ranks: Uint32Array): Uint32Array {
    const visible = this.#visible[kind];
    return visible ? inAll([ranks, visible]) : ranks;
  }

  /**
   * Returns the ranks of all visible users or groups; `'all'` without a
   * restriction.
   */
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
