import { isGroupName, isUserName } from '../directory/names';
import type { Group, User } from '../directory/records';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';

/** Returns the keys of entries. */
export interface EntryKeys {
  /** Of the user of a valid name. */
  readonly user: (username: string) => string;
  /** Of the group of a valid name. */
  readonly group: (groupname: string) => string;
  /** Of the entry of a distinguished name. */
  readonly entry: (dn: string) => string;
}

/** Finds served entries by name. */
export class EntryLookup {
  readonly #tables: ReplicaTables;
  readonly #keys: EntryKeys;

  constructor(tables: ReplicaTables, keys: EntryKeys) {
    this.#tables = tables;
    this.#keys = keys;
  }

  user(query: {
    readonly username: string;
    readonly unlockedOnly?: boolean;
  }): ServedRecord<User> | undefined {
    const { username, unlockedOnly } = query;
    const row = isUserName(username)
      ? this.#tables.users.served.get(this.#keys.user(username))
      : undefined;
    return unlockedOnly && row?.record.locked ? undefined : row;
  }

  group(groupname: string): ServedRecord<Group> | undefined {
    return isGroupName(groupname)
      ? this.#tables.groups.served.get(this.#keys.group(groupname))
      : undefined;
  }
}
