import type {
  GroupsQuery,
  OfAccounts,
  OfGroup,
  OfUser,
  Paged,
  UsersQuery,
} from '../directory/Directory';
import { emptyGroup, type Group } from '../directory/Group';
import { isGroupName, isUserName } from '../directory/names';
import { slicePage, type Page } from '../directory/Page';
import { userFieldNames, type DirectorySchema } from '../directory/schema';
import { emptyUser, type User } from '../directory/User';
import type { UserSearchTerm } from '../directory/UserSearch';
import { findUsers } from './findUsers';
import { Members } from './Members';
import type { ReplicaTables } from './ReplicaTables';
import type { ServedRecord } from './ServedRecords';

/** What makes the keys of entries. */
export interface ReplicaKeyring {
  /** Of the user of a name. */
  readonly user: (username: string) => string;
  /** Of the group of a name. */
  readonly group: (groupname: string) => string;
  /** Of the entry of a distinguished name. */
  readonly entry: (dn: string) => string;
}

/** Finds the rows that questions are about, and makes answers of rows. */
export class CopiedRows {
  readonly tables: ReplicaTables;
  readonly members: Members;
  readonly keys: ReplicaKeyring;
  readonly #schema: DirectorySchema;

  constructor(options: {
    readonly tables: ReplicaTables;
    readonly schema: DirectorySchema;
    readonly keys: ReplicaKeyring;
  }) {
    this.tables = options.tables;
    this.keys = options.keys;
    this.members = new Members(options.tables);
    this.#schema = options.schema;
  }

  /** The user of a name. */
  user({
    username,
    unlockedOnly,
  }: OfAccounts & OfUser): ServedRecord<User> | undefined {
    const row = isUserName(username)
      ? this.tables.users.served.get(this.keys.user(username))
      : undefined;
    return unlockedOnly && row?.record.locked ? undefined : row;
  }

  /** The group of a name. */
  group({ groupname }: OfGroup): ServedRecord<Group> | undefined {
    return isGroupName(groupname)
      ? this.tables.groups.served.get(this.keys.group(groupname))
      : undefined;
  }

  /** The served ones among these, in order. */
  groupsAmong(keys: Iterable<string>): readonly ServedRecord<Group>[] {
    const { served } = this.tables.groups;
    return Array.from(served.ranksOf(keys), rank => served.inOrder[rank]);
  }

  /** The ranks of the users to whom all terms apply. */
  find(
    query: Pick<UsersQuery, 'visibleTo'> & {
      readonly terms: readonly UserSearchTerm[];
    },
  ): Uint32Array {
    const { visibleTo } = query;
    return findUsers(query.terms, {
      users: this.tables.users,
      members: this.members,
      schema: this.#schema,
      visibleTo,
      ownerRank: () =>
        visibleTo.kind === 'public' && visibleTo.owner !== undefined
          ? this.#rankOf(visibleTo.owner)
          : undefined,
      groupKey: groupname => this.group({ groupname })?.key,
    });
  }

  #rankOf(username: string): number | undefined {
    const row = this.user({ username });
    return row && this.tables.users.served.ranksOf([row.key])[0];
  }

  /** The users of these ranks. */
  users(ranks: Uint32Array): readonly ServedRecord<User>[] {
    const { inOrder } = this.tables.users.served;
    return Array.from(ranks, rank => inOrder[rank]);
  }

  /** A page of the users of these ranks. */
  userPage(ranks: ArrayLike<number>, query: UsersQuery & Paged): Page<User> {
    const { inOrder } = this.tables.users.served;
    const { number, size } = query.page;
    const present = userWith(query);
    const shown = Array.prototype.slice.call(
      ranks,
      (number - 1) * size,
      number * size,
    ) as number[];
    return {
      items: shown.map(rank => present(inOrder[rank])),
      total: ranks.length,
    };
  }
}

/** A page of rows, each as it is answered. */
export function pageOf<T extends object, A>(
  rows: readonly ServedRecord<T>[],
  { page }: Paged,
  present: (row: ServedRecord<T>) => A,
): Page<A> {
  return { items: slicePage(rows, page).map(present), total: rows.length };
}

/** What makes a record with the wanted fields of a row. */
export function userWith({
  fields,
}: UsersQuery): (row: ServedRecord<User>) => User {
  return userFieldNames.every(field => fields.has(field))
    ? ({ record }) => record
    : ({ record }) => fill(emptyUser(), record, ['username', ...fields]);
}

/** The same of a group's. */
export function groupWith({
  fields,
}: GroupsQuery): (row: ServedRecord<Group>) => Group {
  return ({ record }) => fill(emptyGroup(), record, ['groupname', ...fields]);
}

/** Takes some fields over from a record. */
function fill<T extends object>(
  empty: Record<keyof T, undefined>,
  record: T,
  fields: readonly (keyof T)[],
): T {
  const filled: Record<keyof T, unknown> = empty;
  for (const field of fields) {
    filled[field] = record[field];
  }
  return filled as T;
}
