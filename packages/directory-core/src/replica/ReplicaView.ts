import { isGroupName, isUserName } from '../directory/names';
import type { Group, User } from '../directory/records';
import type { MemberRanks } from './tables/MemberRanks';
import { inAll, includes } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';
import type { ReadableRecords } from './tables/ServedRecords';

/** Options of {@link ReplicaView}. */
export interface ReplicaViewOptions {
  readonly tables: ReplicaTables;
  readonly members: MemberRanks;
  /** Returns the key of the entry with a distinguished name. */
  readonly keyOf: (dn: string) => string;
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
  readonly keyOf: ReplicaViewOptions['keyOf'];
  readonly #visible: VisibleRanks;

  constructor(options: ReplicaViewOptions, visible: VisibleRanks = {}) {
    this.tables = options.tables;
    this.members = options.members;
    this.keyOf = options.keyOf;
    this.#visible = visible;
  }

  /** Returns a visible user by name. */
  user(query: {
    readonly username: string;
    readonly unlockedOnly?: boolean;
  }): ServedRecord<User> | undefined {
    const { username, unlockedOnly } = query;
    const row = isUserName(username)
      ? this.tables.users.served.named(username)
      : undefined;
    const isExcluded = unlockedOnly && row?.record.locked;
    return row && !isExcluded && this.#shows('users', row.key)
      ? row
      : undefined;
  }

  /** Returns a visible group by name. */
  group(groupname: string): ServedRecord<Group> | undefined {
    const row = isGroupName(groupname)
      ? this.tables.groups.served.named(groupname)
      : undefined;
    return row && this.#shows('groups', row.key) ? row : undefined;
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

  /** Returns the ranks of all visible users or groups. */
  all(kind: 'users' | 'groups'): Uint32Array {
    return this.#visible[kind] ?? this.tables[kind].served.allRanks;
  }

  /** Whether all groups are visible. */
  get hasAllGroups(): boolean {
    return this.#visible.groups === undefined;
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
