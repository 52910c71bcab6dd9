import type {
  Directory,
  GroupsQuery,
  OfAccounts,
  OfGroup,
  OfUser,
  Paged,
  UsersQuery,
} from '../directory/Directory';
import type { Group } from '../directory/Group';
import { compareNames, isName } from '../directory/names';
import type { Page } from '../directory/Page';
import { slicePage } from '../directory/Page';
import { userFieldNames, type DirectorySchema } from '../directory/schema';
import type { User } from '../directory/User';
import { findColleagues } from './findColleagues';
import { findUsers } from './findUsers';
import { findValues } from './findValues';
import { Members } from './Members';
import { inAll, inAny } from './rankSets';
import type { ReplicaTables } from './ReplicaTables';
import type { ServedRecord } from './ServedRecords';
import { streamRows } from './streamRows';

type Method<Name extends keyof Directory> = Directory[Name];

/** What makes the keys of entries. */
export interface ReplicaKeyring {
  /** Of the user of a name. */
  readonly user: (username: string) => string;
  /** Of the group of a name. */
  readonly group: (groupname: string) => string;
  /** Of the entry of a distinguished name. */
  readonly entry: (dn: string) => string;
}

/**
 * Answers from a copy in memory, in the same turn: all of the port but the
 * principals, who may be services and hosts.
 */
export class CopiedDirectory implements Omit<Directory, 'findPrincipal'> {
  readonly #tables: ReplicaTables;
  readonly #schema: DirectorySchema;
  readonly #keys: ReplicaKeyring;
  readonly #members: Members;

  constructor(options: {
    readonly tables: ReplicaTables;
    readonly schema: DirectorySchema;
    readonly keys: ReplicaKeyring;
  }) {
    this.#tables = options.tables;
    this.#schema = options.schema;
    this.#keys = options.keys;
    this.#members = new Members(options.tables);
  }

  getUser: Method<'getUser'> = async query => {
    const row = this.#user(query);
    return row && userWith(query)(row);
  };

  listUsers: Method<'listUsers'> = async query => {
    const { inOrder } = this.#tables.users.served;
    return query.unlockedOnly
      ? this.#userPage(this.#members.everyoneUnlocked(), query)
      : pageOf(inOrder, query, userWith(query));
  };

  streamUsers: Method<'streamUsers'> = async (query, { signal }) => {
    const { inOrder } = this.#tables.users.served;
    const rows = query.unlockedOnly
      ? Array.from(this.#members.everyoneUnlocked(), rank => inOrder[rank])
      : inOrder;
    return streamRows(rows, { present: userWith(query), signal });
  };

  searchUsers: Method<'searchUsers'> = async query =>
    this.#userPage(
      query.unlockedOnly
        ? this.#tables.users.unlockedAmong(this.#find(query))
        : this.#find(query),
      query,
    );

  getGroup: Method<'getGroup'> = async query => {
    const row = this.#group(query);
    return row && groupWith(query)(row);
  };

  listGroups: Method<'listGroups'> = async query =>
    pageOf(this.#tables.groups.served.inOrder, query, groupWith(query));

  searchGroups: Method<'searchGroups'> = async query => {
    const { served } = this.#tables.groups;
    const found = query.terms.map(term =>
      term.kind === 'anyOf'
        ? inAny(term.terms.map(each => findValues(served, each)))
        : findValues(served, term),
    );
    const rows = Array.from(inAll(found), rank => served.inOrder[rank]);
    return pageOf(rows, query, groupWith(query));
  };

  listGroupMembers: Method<'listGroupMembers'> = async query => {
    const group = this.#group(query);
    if (!group) {
      return undefined;
    }
    const members = this.#members.unlocked(group.key, query.membership);
    const { terms, visibleTo } = query;
    return this.#userPage(
      terms?.length
        ? inAll([members, this.#find({ terms, visibleTo })])
        : members,
      query,
    );
  };

  streamGroupMembers: Method<'streamGroupMembers'> = async (
    query,
    { signal },
  ) => {
    const group = this.#group(query);
    const { served } = this.#tables.users;
    return (
      group &&
      streamRows(
        Array.from(
          this.#members.unlocked(group.key),
          rank => served.inOrder[rank],
        ),
        { present: userWith(query), signal },
      )
    );
  };

  listGroupSponsors: Method<'listGroupSponsors'> = async query => {
    const group = this.#group(query);
    if (!group) {
      return undefined;
    }
    const { groups, users } = this.#tables;
    const sponsors = new Set(groups.get(group.key)?.sponsors);
    for (const sponsor of [...sponsors]) {
      for (const member of groups.graph.membersOf(sponsor)) {
        sponsors.add(member);
      }
    }
    const ranks = users.unlockedAmong(users.served.ranksOf(sponsors));
    return Array.from(ranks, rank =>
      userWith(query)(users.served.inOrder[rank]),
    );
  };

  isMember: Method<'isMember'> = async query => {
    const group = this.#group(query);
    const user = this.#user({ ...query, unlockedOnly: true });
    return (
      group &&
      user !== undefined &&
      this.#tables.groups.graph.groupsOf(user.key).has(group.key)
    );
  };

  countGroupMembers: Method<'countGroupMembers'> = async ({ groupnames }) =>
    new Map(
      groupnames.map(groupname => {
        const group = this.#group({ groupname });
        return [
          groupname,
          group ? this.#members.unlocked(group.key).length : 0,
        ];
      }),
    );

  listUserGroups: Method<'listUserGroups'> = async query => {
    const user = this.#user(query);
    return (
      user &&
      pageOf(
        this.#groupsAmong(this.#tables.groups.graph.groupsOf(user.key)),
        query,
        groupWith(query),
      )
    );
  };

  listUserMemberships: Method<'listUserMemberships'> = async query => {
    const user = this.#user(query);
    if (!user) {
      return undefined;
    }
    const { graph, served } = this.#tables.groups;
    const chains = graph.chainsFrom(user.key);
    const sponsored = graph.sponsoredBy([user.key, ...chains.keys()]);
    return pageOf(this.#groupsAmong(chains.keys()), query, row => {
      const chain = chains.get(row.key)!;
      return {
        group: groupWith(query)(row),
        direct: chain.length === 1,
        sponsor: sponsored.has(row.key),
        path: chain.map(step => served.get(step)?.name),
      };
    });
  };

  listSponsoredGroups: Method<'listSponsoredGroups'> = async query => {
    const user = this.#user(query);
    const { graph } = this.#tables.groups;
    return (
      user &&
      pageOf(
        this.#groupsAmong(
          graph.sponsoredBy([user.key, ...graph.groupsOf(user.key)]),
        ),
        query,
        groupWith(query),
      )
    );
  };

  listMemberGroups: Method<'listMemberGroups'> = async query => {
    const group = this.#group(query);
    const { graph, served } = this.#tables.groups;
    const nestedIn = (key: string) =>
      graph.groupsIn(key, name => served.get(name) !== undefined);
    return (
      group &&
      pageOf(this.#groupsAmong(nestedIn(group.key)), query, row => ({
        group: groupWith(query)(row),
        hasMemberGroups: nestedIn(row.key).size > 0,
      }))
    );
  };

  listUserAgreements: Method<'listUserAgreements'> = async query => {
    const user = this.#user(query);
    if (!user) {
      return undefined;
    }
    const names = [...this.#tables.agreements.values()]
      .filter(({ enabled, signers }) => enabled && signers.has(user.key))
      .map(({ name }) => name)
      .sort(compareNames);
    return { items: slicePage(names, query.page), total: names.length };
  };

  listColleagues: Method<'listColleagues'> = async query =>
    this.#userPage(
      findColleagues(
        { key: this.#keys.entry(query.dn), visibleTo: query.visibleTo },
        { ...this.#tables, members: this.#members },
      ),
      query,
    );

  #find(
    query: Pick<UsersQuery, 'visibleTo'> &
      Pick<Parameters<Directory['searchUsers']>[0], 'terms'>,
  ): Uint32Array {
    return findUsers(query.terms, {
      users: this.#tables.users,
      members: this.#members,
      schema: this.#schema,
      visibleTo: query.visibleTo,
      groupKey: groupname => this.#group({ groupname })?.key,
    });
  }

  #user({
    username,
    unlockedOnly,
  }: OfAccounts & OfUser): ServedRecord<User> | undefined {
    const row = isName(username)
      ? this.#tables.users.served.get(this.#keys.user(username))
      : undefined;
    return unlockedOnly && row?.record.locked ? undefined : row;
  }

  #group({ groupname }: OfGroup): ServedRecord<Group> | undefined {
    return isName(groupname)
      ? this.#tables.groups.served.get(this.#keys.group(groupname))
      : undefined;
  }

  #groupsAmong(keys: Iterable<string>): readonly ServedRecord<Group>[] {
    const { served } = this.#tables.groups;
    return Array.from(served.ranksOf(keys), rank => served.inOrder[rank]);
  }

  #userPage(ranks: ArrayLike<number>, query: UsersQuery & Paged): Page<User> {
    const { inOrder } = this.#tables.users.served;
    const { number, size } = query.page;
    const shown = Array.prototype.slice.call(
      ranks,
      (number - 1) * size,
      number * size,
    ) as number[];
    return {
      items: shown.map(rank => userWith(query)(inOrder[rank])),
      total: ranks.length,
    };
  }
}

function pageOf<T extends object, A>(
  rows: readonly ServedRecord<T>[],
  { page }: Paged,
  present: (row: ServedRecord<T>) => A,
): Page<A> {
  return { items: slicePage(rows, page).map(present), total: rows.length };
}

function userWith({ fields }: UsersQuery): (row: ServedRecord<User>) => User {
  return userFieldNames.every(field => fields.has(field))
    ? ({ record }) => record
    : ({ record }) => withFields(record, ['username', ...fields]);
}

function groupWith({
  fields,
}: GroupsQuery): (row: ServedRecord<Group>) => Group {
  return ({ record }) => withFields(record, ['groupname', ...fields]);
}

function withFields<T extends object>(
  record: T,
  fields: readonly (keyof T)[],
): T {
  return Object.fromEntries(fields.map(field => [field, record[field]])) as T;
}
