import {
  MAX_COLLEAGUES,
  type Directory,
  type GroupQuery,
  type GroupSelection,
  type GroupSource,
  type ListedGroup,
  type Paged,
  type RequestContext,
  type UserQuery,
  type UserSelection,
  type UserStream,
} from '../directory/Directory';
import { emptyGroup, type Group } from '../directory/records';
import { compareNames, isGroupName, isUserName } from '../directory/names';
import { slicePage, type Page } from '../directory/Page';
import { userFieldNames } from '../directory/schema';
import { emptyUser, type User } from '../directory/records';
import { fieldIndex, userIndex } from './conditions';
import { ranksWhere, testWhere, type RankIndex } from './evaluate';
import type { UserCondition } from '../directory/predicates';
import { Members } from './tables/MemberRanks';
import { inAll, inAny } from './tables/rankSets';
import type { ReplicaGate } from './sync/ReplicaState';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/ServedRecords';

/** Users of a stream that are read at once. */
const USERS_PER_BATCH = 500;

/** Returns the keys of entries. */
export interface EntryKeys {
  /** Of the user of a valid name. */
  readonly user: (username: string) => string;
  /** Of the group of a valid name. */
  readonly group: (groupname: string) => string;
  /** Of the entry of a distinguished name. */
  readonly entry: (dn: string) => string;
}

/** The rows of a list. */
interface Rows<T> {
  readonly total: number;
  slice(start: number, end: number): readonly ServedRecord<T>[];
}

/** Answers queries from the replica, while it may be read. */
export class ReplicaDirectory implements Directory {
  readonly #gate: ReplicaGate;
  readonly #tables: ReplicaTables;
  readonly #members: Members;
  readonly #keys: EntryKeys;

  constructor(options: {
    readonly gate: ReplicaGate;
    readonly tables: ReplicaTables;
    readonly keys: EntryKeys;
  }) {
    this.#gate = options.gate;
    this.#tables = options.tables;
    this.#members = new Members(options.tables);
    this.#keys = options.keys;
  }

  async getUser(
    query: UserQuery,
    context: RequestContext,
  ): Promise<User | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const row = this.#user(query);
    return row && userWith(query.fields)(row);
  }

  async getGroup(
    { groupname, fields }: GroupQuery,
    context: RequestContext,
  ): Promise<Group | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const row = this.#group(groupname);
    return row && groupWith(fields)(row);
  }

  async listUsers(
    selection: UserSelection & Paged,
    context: RequestContext,
  ): Promise<Page<User> | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const rows = this.#selectUsers(selection);
    return rows && pageOf(rows, selection, userWith(selection.fields));
  }

  async streamUsers(
    selection: UserSelection,
    context: RequestContext,
  ): Promise<UserStream | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const rows = this.#selectUsers(selection);
    return (
      rows && {
        total: rows.total,
        batches: this.#batchesOf(
          // A copy: a changed row takes the place of the old one in its list.
          rows.slice(0, rows.total),
          userWith(selection.fields),
          context,
        ),
      }
    );
  }

  async listGroups(
    selection: GroupSelection & Paged,
    context: RequestContext,
  ): Promise<Page<ListedGroup> | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const { from, where, fields } = selection;
    const found = this.#groupsFrom(from);
    if (!found) {
      return undefined;
    }
    const { served } = this.#tables.groups;
    const lists = [
      ...(found.keys ? [served.ranksOf(found.keys)] : []),
      ...(where ? [ranksWhere(where, fieldIndex(served))] : []),
    ];
    const rows =
      lists.length > 0
        ? rowsOf(inAll(lists), served.inOrder)
        : allOfRows(served.inOrder);
    const present = groupWith(fields);
    return pageOf(rows, selection, row => ({
      group: present(row),
      ...found.describe?.(row.key),
    }));
  }

  async isMember(
    query: { readonly username: string; readonly groupname: string },
    context: RequestContext,
  ): Promise<boolean | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const group = this.#group(query.groupname);
    const user = this.#user({ username: query.username, unlockedOnly: true });
    return (
      group &&
      user !== undefined &&
      this.#tables.groups.graph.groupsOf(user.key).has(group.key)
    );
  }

  async countMembers(
    { groupnames }: { readonly groupnames: readonly string[] },
    context: RequestContext,
  ): Promise<ReadonlyMap<string, number>> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    return new Map(
      groupnames.map(groupname => {
        const group = this.#group(groupname);
        const count = group ? this.#members.unlocked(group.key).length : 0;
        return [groupname, count];
      }),
    );
  }

  async listAgreements(
    query: Pick<UserQuery, 'username' | 'unlockedOnly'> & Paged,
    context: RequestContext,
  ): Promise<Page<string> | undefined> {
    if (!this.#gate.isOpen) {
      await this.#gate.enter(context.signal);
    }
    const user = this.#user(query);
    if (!user) {
      return undefined;
    }
    const names = [...this.#tables.agreements.values()]
      .filter(({ enabled, signers }) => enabled && signers.has(user.key))
      .map(({ name }) => name)
      .sort(compareNames);
    return { items: slicePage(names, query.page), total: names.length };
  }

  async *#batchesOf(
    rows: readonly ServedRecord<User>[],
    present: (row: ServedRecord<User>) => User,
    { signal }: RequestContext,
  ): AsyncIterable<readonly User[]> {
    for (let at = 0; at < rows.length; at += USERS_PER_BATCH) {
      signal.throwIfAborted();
      this.#gate.requireOpen();
      yield rows.slice(at, at + USERS_PER_BATCH).map(present);
    }
  }

  #user({
    username,
    unlockedOnly,
  }: Pick<UserQuery, 'username' | 'unlockedOnly'>):
    | ServedRecord<User>
    | undefined {
    const row = isUserName(username)
      ? this.#tables.users.served.get(this.#keys.user(username))
      : undefined;
    return unlockedOnly && row?.record.locked ? undefined : row;
  }

  #group(groupname: string): ServedRecord<Group> | undefined {
    return isGroupName(groupname)
      ? this.#tables.groups.served.get(this.#keys.group(groupname))
      : undefined;
  }

  #selectUsers(selection: UserSelection): Rows<User> | undefined {
    const { from, where, unlockedOnly, order } = selection;
    const { served } = this.#tables.users;
    if (from.kind === 'all' && !where && !unlockedOnly && !order) {
      return allOfRows(served.inOrder);
    }
    const index = this.#userIndex();
    const source = this.#usersFrom(from, unlockedOnly);
    if (source === undefined) {
      return undefined;
    }
    const lists = [
      ...(source === 'all' ? [] : [source]),
      ...(where ? [ranksWhere(where, index)] : []),
    ];
    const ranks =
      lists.length > 0 ? inAll(lists) : Uint32Array.from(served.inOrder.keys());
    return rowsOf(
      order ? this.#newestFirst(ranks, order.where, index) : ranks,
      served.inOrder,
    );
  }

  /** Ranks in order; `undefined` when the group does not exist. */
  #usersFrom(
    from: UserSelection['from'],
    unlockedOnly: boolean | undefined,
  ): Uint32Array | 'all' | undefined {
    switch (from.kind) {
      case 'all':
        return unlockedOnly ? this.#members.allUnlocked() : 'all';
      case 'colleaguesOf':
        return this.#colleaguesOf(this.#keys.entry(from.dn));
      default: {
        const group = this.#group(from.groupname);
        if (!group) {
          return undefined;
        }
        return from.kind === 'membersOf'
          ? this.#members.unlocked(group.key, from.membership)
          : this.#sponsorsOf(group.key);
      }
    }
  }

  #sponsorsOf(key: string): Uint32Array {
    const { groups, users } = this.#tables;
    const sponsors = new Set(groups.get(key)?.sponsors);
    for (const sponsor of [...sponsors]) {
      for (const member of groups.graph.membersOf(sponsor)) {
        sponsors.add(member);
      }
    }
    return users.unlockedAmong(users.served.ranksOf(sponsors));
  }

  /** Members of the smallest groups of an entry. */
  #colleaguesOf(key: string): Uint32Array {
    const { users, groups } = this.#tables;
    const [own] = users.served.ranksOf([key]);
    const bySize = Array.from(
      groups.served.ranksOf(groups.graph.groupsOf(key)),
      rank => this.#members.unlocked(groups.served.inOrder[rank].key),
    )
      // One more: the entry itself is a member, too.
      .filter(({ length }) => length <= MAX_COLLEAGUES + 1)
      .sort((a, b) => a.length - b.length);
    let found = new Uint32Array();
    for (const group of bySize) {
      const others = group.filter(rank => rank !== own);
      const together = inAny([found, others]);
      if (together.length <= MAX_COLLEAGUES) {
        found = together;
      }
    }
    return found;
  }

  #newestFirst(
    ranks: Uint32Array,
    where: NonNullable<UserSelection['order']>['where'],
    index: RankIndex<UserCondition>,
  ): readonly number[] {
    const { inOrder } = this.#tables.users.served;
    const isOrdered = where ? testWhere(where, index) : () => true;
    return Array.from(ranks, rank => ({
      rank,
      time: isOrdered(rank)
        ? inOrder[rank].record.creation?.getTime() ?? -Infinity
        : -Infinity,
    }))
      .sort((a, b) => (a.time === b.time ? a.rank - b.rank : b.time - a.time))
      .map(({ rank }) => rank);
  }

  #userIndex(): RankIndex<UserCondition> {
    const { served } = this.#tables.users;
    return userIndex({
      served,
      members: this.#members,
      groupKey: groupname => this.#group(groupname)?.key,
      rankOf: username => {
        const row = this.#user({ username });
        return row?.name === username
          ? served.ranksOf([row.key])[0]
          : undefined;
      },
    });
  }

  /** Without `keys`, all groups; `undefined` when a named entry is missing. */
  #groupsFrom(from: GroupSource):
    | {
        readonly keys?: Iterable<string>;
        /** What an item has besides the group of a key. */
        readonly describe?: (key: string) => Omit<ListedGroup, 'group'>;
      }
    | undefined {
    const { graph, served } = this.#tables.groups;
    switch (from.kind) {
      case 'all':
        return {};
      case 'nestedIn': {
        const group = this.#group(from.groupname);
        const nestedIn = (key: string) =>
          graph.groupsIn(key, name => served.get(name) !== undefined);
        return (
          group && {
            keys: nestedIn(group.key),
            describe: key => ({ hasMemberGroups: nestedIn(key).size > 0 }),
          }
        );
      }
      case 'sponsoredBy': {
        const user = this.#user(from);
        return (
          user && {
            keys: graph.sponsoredBy([user.key, ...graph.groupsOf(user.key)]),
          }
        );
      }
      default: {
        const user = this.#user(from);
        if (!user) {
          return undefined;
        }
        return from.reasons
          ? this.#groupsWithReasons(user.key)
          : { keys: graph.groupsOf(user.key) };
      }
    }
  }

  #groupsWithReasons(user: string) {
    const { graph, served } = this.#tables.groups;
    const chains = graph.chainsFrom(user);
    const sponsored = graph.sponsoredBy([user, ...chains.keys()]);
    return {
      keys: chains.keys(),
      describe: (key: string): Omit<ListedGroup, 'group'> => {
        const chain = chains.get(key)!;
        return {
          reason: {
            direct: chain.length === 1,
            sponsor: sponsored.has(key),
            path: chain.map(step => served.get(step)?.name),
          },
        };
      },
    };
  }
}

function allOfRows<T>(rows: readonly ServedRecord<T>[]): Rows<T> {
  return {
    total: rows.length,
    slice: (start, end) => rows.slice(start, end),
  };
}

function rowsOf<T>(
  ranks: Uint32Array | readonly number[],
  inOrder: readonly ServedRecord<T>[],
): Rows<T> {
  return {
    total: ranks.length,
    slice: (start, end) =>
      Array.from(ranks.slice(start, end), rank => inOrder[rank]),
  };
}

function pageOf<T, R>(
  rows: Rows<T>,
  { page: { number, size } }: Paged,
  present: (row: ServedRecord<T>) => R,
): Page<R> {
  return {
    items: rows.slice((number - 1) * size, number * size).map(present),
    total: rows.total,
  };
}

/** Returns records with these fields; the row's own record with all of them. */
function userWith(
  fields: UserQuery['fields'],
): (row: ServedRecord<User>) => User {
  return userFieldNames.every(field => fields.has(field))
    ? ({ record }) => record
    : ({ record }) => fill(emptyUser(), record, ['username', ...fields]);
}

function groupWith(
  fields: GroupQuery['fields'],
): (row: ServedRecord<Group>) => Group {
  return ({ record }) => fill(emptyGroup(), record, ['groupname', ...fields]);
}

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
