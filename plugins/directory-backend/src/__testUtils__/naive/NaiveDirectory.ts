import type {
  Directory,
  GroupsQuery,
  MemberSelection,
  OfAccounts,
  OfGroup,
  OfUser,
  Paged,
  UsersQuery,
} from '../../directory/Directory';
import type { Group } from '../../directory/Group';
import type { GroupSearchTerm } from '../../directory/GroupSearch';
import type { MemberGroup } from '../../directory/MemberGroup';
import type { Membership } from '../../directory/Membership';
import type { Page } from '../../directory/Page';
import type {
  Principal,
  PrincipalLookup,
  PrincipalQuery,
} from '../../directory/Principal';
import type { UserField } from '../../directory/schema';
import type { User } from '../../directory/User';
import type { UserSearchTerm } from '../../directory/UserSearch';
import type { UserStream } from '../../directory/UserStream';
import { NAIVE_SCHEMAS } from './attributes';
import type { DumpedEntry } from './DumpedEntry';
import { NaiveExtensions } from './NaiveExtensions';
import { NaiveMembership } from './NaiveMembership';
import { naiveAgreements } from './naiveAgreements';
import { isLocked, naivePrincipal } from './naivePrincipal';
import { naiveGroup, naiveUser } from './naiveRecord';
import { isProperName, named, pageOf, served, streamOf } from './naiveLists';
import { naiveSearch } from './naiveSearch';

const SUFFIX = 'dc=example,dc=test';
const USERS = `cn=users,cn=accounts,${SUFFIX}`;
const GROUPS = `cn=groups,cn=accounts,${SUFFIX}`;

/**
 * What a directory must answer, by the shortest way from the dump of its
 * entries: each answer looks at every entry.
 */
export class NaiveDirectory implements Directory {
  readonly #entries: readonly DumpedEntry[];
  readonly #membership: NaiveMembership;
  readonly #extensions: NaiveExtensions;
  readonly #attributes: Partial<Record<UserField, string>>;
  /** Every served user and group, in the order of lists. */
  readonly users: readonly DumpedEntry[];
  readonly groups: readonly DumpedEntry[];
  readonly principals = {
    find: (query: PrincipalQuery) => this.#findPrincipal(query),
  } satisfies PrincipalLookup;

  constructor(entries: readonly DumpedEntry[], schema: 'fas' | 'freeipa') {
    const { userClass, groupClass, attributes } = NAIVE_SCHEMAS[schema];
    this.#entries = entries;
    this.#attributes = attributes;
    this.#membership = new NaiveMembership(
      entries.filter(entry => entry.isIn(GROUPS)),
    );
    this.users = served(entries, USERS, { as: userClass, by: 'uid' });
    this.groups = served(entries, GROUPS, { as: groupClass, by: 'cn' });
    this.#extensions = new NaiveExtensions({
      users: this.users,
      groups: this.groups,
      membership: this.#membership,
      creation: this.#attributes.creation!,
    });
  }

  /** Every Kerberos principal name of every account. */
  principalNames(): readonly string[] {
    return this.#entries.flatMap(entry => entry.texts('krbPrincipalName'));
  }

  async #findPrincipal(query: PrincipalQuery): Promise<Principal | undefined> {
    const found = this.#entries.filter(entry =>
      'principal' in query
        ? entry.key.endsWith(`,cn=accounts,${SUFFIX}`) &&
          entry.texts('krbPrincipalName').includes(query.principal)
        : entry.key === `uid=${query.username},${USERS}`.toLowerCase() &&
          isProperName(query.username) &&
          entry.isA('posixAccount'),
    );
    return found.length === 1
      ? naivePrincipal(found[0], {
          isUser: found[0].isIn(USERS),
          served: this.users.includes(found[0]),
          groups: this.#membership.groupsOf(found[0].key),
        })
      : undefined;
  }

  async getUser(
    query: UsersQuery & OfAccounts & OfUser,
  ): Promise<User | undefined> {
    const entry = named(this.#accounts(query), 'uid', query.username);
    return entry && this.#user(entry, query);
  }

  async listUsers(query: UsersQuery & OfAccounts & Paged): Promise<Page<User>> {
    return this.#page(this.#accounts(query), query);
  }

  async streamUsers(query: UsersQuery & OfAccounts): Promise<UserStream> {
    const page = { number: 1, size: this.users.length };
    return streamOf(await this.listUsers({ ...query, page }));
  }

  async searchUsers(
    query: UsersQuery &
      OfAccounts &
      Paged & { readonly terms: readonly UserSearchTerm[] },
  ): Promise<Page<User>> {
    const found = this.#accounts(query).filter(entry =>
      this.#applies(entry, query),
    );
    return this.#page(found, query);
  }

  async listUserGroups(
    query: GroupsQuery & OfAccounts & OfUser & Paged,
  ): Promise<Page<Group> | undefined> {
    const user = named(this.#accounts(query), 'uid', query.username);
    return user && this.#groupPage(this.#groupsOf(user), query);
  }

  async listUserAgreements(
    query: OfAccounts & OfUser & Paged,
  ): Promise<Page<string> | undefined> {
    const user = named(this.#accounts(query), 'uid', query.username);
    return user && pageOf(naiveAgreements(this.#entries, user), query.page);
  }

  async getGroup(query: GroupsQuery & OfGroup): Promise<Group | undefined> {
    const entry = named(this.groups, 'cn', query.groupname);
    return entry && naiveGroup(entry, query.fields);
  }

  async listGroups(query: GroupsQuery & Paged): Promise<Page<Group>> {
    return this.#groupPage(this.groups, query);
  }

  async listGroupMembers(
    query: UsersQuery & OfGroup & Paged & MemberSelection,
  ): Promise<Page<User> | undefined> {
    const group = named(this.groups, 'cn', query.groupname);
    if (!group) {
      return undefined;
    }
    const { membership, terms = [] } = query;
    const direct = group.links('member');
    const members = this.#unlocked(this.#membership.membersOf(group))
      .filter(({ key }) => membership !== 'direct' || direct.includes(key))
      .filter(({ key }) => membership !== 'indirect' || !direct.includes(key))
      .filter(entry => this.#applies(entry, { ...query, terms }));
    return this.#page(members, query);
  }

  async streamGroupMembers(
    query: UsersQuery & OfGroup,
  ): Promise<UserStream | undefined> {
    const page = { number: 1, size: this.users.length };
    const all = await this.listGroupMembers({ ...query, page });
    return all && streamOf(all);
  }

  async listGroupSponsors(
    query: UsersQuery & OfGroup,
  ): Promise<readonly User[] | undefined> {
    const group = named(this.groups, 'cn', query.groupname);
    return (
      group &&
      this.#unlocked(this.#membership.sponsorsOf(group)).map(entry =>
        this.#user(entry, query),
      )
    );
  }

  async isMember(query: OfUser & OfGroup): Promise<boolean | undefined> {
    const group = named(this.groups, 'cn', query.groupname);
    const user = named(this.users, 'uid', query.username);
    return (
      group &&
      user !== undefined &&
      this.#unlocked(this.#membership.membersOf(group)).includes(user)
    );
  }

  async listUserMemberships(
    query: GroupsQuery & OfUser & Paged,
  ): Promise<Page<Membership> | undefined> {
    const user = named(this.users, 'uid', query.username);
    return (
      user && pageOf(this.#extensions.memberships(user, query), query.page)
    );
  }

  async listSponsoredGroups(
    query: GroupsQuery & OfUser & Paged,
  ): Promise<Page<Group> | undefined> {
    const user = named(this.users, 'uid', query.username);
    return user && this.#groupPage(this.#extensions.sponsored(user), query);
  }

  async listMemberGroups(
    query: GroupsQuery & OfGroup & Paged,
  ): Promise<Page<MemberGroup> | undefined> {
    const group = named(this.groups, 'cn', query.groupname);
    return (
      group && pageOf(this.#extensions.memberGroups(group, query), query.page)
    );
  }

  async searchGroups(
    query: GroupsQuery & Paged & { readonly terms: readonly GroupSearchTerm[] },
  ): Promise<Page<Group>> {
    return this.#groupPage(this.#extensions.found(query.terms), query);
  }

  async countGroupMembers(query: {
    readonly groupnames: readonly string[];
  }): Promise<ReadonlyMap<string, number>> {
    return new Map(
      query.groupnames.map(name => {
        const group = named(this.groups, 'cn', name);
        const members = group && this.#membership.membersOf(group);
        return [name, members ? this.#unlocked(members).length : 0];
      }),
    );
  }

  async listColleagues(
    query: UsersQuery & Paged & { readonly dn: string },
  ): Promise<Page<User>> {
    return this.#page(this.#extensions.colleagues(query.dn, query), query);
  }

  #applies(
    entry: DumpedEntry,
    query: Pick<UsersQuery, 'visibleTo'> & {
      readonly terms: readonly UserSearchTerm[];
    },
  ): boolean {
    return query.terms.every(term =>
      naiveSearch(entry, term, {
        visibleTo: query.visibleTo,
        attributes: this.#attributes,
        groups: () => this.#groupNames(entry),
      }),
    );
  }

  #groupsOf(user: DumpedEntry): readonly DumpedEntry[] {
    const groups = this.#membership.groupsOf(user.key);
    return this.groups.filter(group => groups.includes(group));
  }

  #groupNames(user: DumpedEntry): readonly string[] {
    return this.#groupsOf(user).map(group => group.text('cn')!.toLowerCase());
  }

  #accounts({ unlockedOnly }: OfAccounts): readonly DumpedEntry[] {
    return this.users.filter(entry => !unlockedOnly || !isLocked(entry));
  }

  #unlocked(keys: ReadonlySet<string>): readonly DumpedEntry[] {
    return this.users.filter(entry => keys.has(entry.key) && !isLocked(entry));
  }

  #page(
    entries: readonly DumpedEntry[],
    query: UsersQuery & Paged,
  ): Page<User> {
    const { items, total } = pageOf(entries, query.page);
    return { items: items.map(entry => this.#user(entry, query)), total };
  }

  #groupPage(
    entries: readonly DumpedEntry[],
    query: GroupsQuery & Paged,
  ): Page<Group> {
    const { items, total } = pageOf(entries, query.page);
    return {
      items: items.map(entry => naiveGroup(entry, query.fields)),
      total,
    };
  }

  #user(entry: DumpedEntry, { fields }: UsersQuery): User {
    return naiveUser(entry, fields, this.#attributes);
  }
}
