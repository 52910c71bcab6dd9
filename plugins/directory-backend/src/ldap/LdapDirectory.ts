import type { LoggerService } from '@backstage/backend-plugin-api';
import type {
  Directory,
  DirectoryContext,
  GroupsQuery,
  MemberSelection,
  OfAccounts,
  OfGroup,
  OfUser,
  Paged,
  UsersQuery,
} from '../directory/Directory';
import { compareNames } from '../directory/names';
import type { Group } from '../directory/Group';
import type { GroupSearchTerm } from '../directory/GroupSearch';
import type { MemberGroup } from '../directory/MemberGroup';
import type { Membership } from '../directory/Membership';
import { slicePage, type Page } from '../directory/Page';
import type { DirectorySchema } from '../directory/schema';
import type { User } from '../directory/User';
import type { UserSearchTerm } from '../directory/UserSearch';
import type { UserStream } from '../directory/UserStream';
import { containersBelow } from './containers';
import { normalizeDn } from './DistinguishedName';
import { textsOf } from './entryValues';
import { LdapColleagues } from './LdapColleagues';
import { LdapGroups } from './LdapGroups';
import { LdapGroupSearch } from './LdapGroupSearch';
import { LdapMemberships } from './LdapMemberships';
import type { LdapReader } from './LdapReader';
import { LdapUserNames } from './LdapUserNames';
import { LdapUsers } from './LdapUsers';
import { createMirrors, type MirroredAgreement, type Mirrors } from './mirrors';
import type { MirroredEntries } from './MirroredEntries';
import { streamUsers } from './streamUsers';

/** Answers from FreeIPA's LDAP, asked as the service account. */
export class LdapDirectory implements Directory {
  readonly #mirrors: Mirrors;
  readonly #users: LdapUsers;
  readonly #groups: LdapGroups;
  readonly #groupSearch: LdapGroupSearch;
  readonly #memberships: LdapMemberships;
  readonly #colleagues: LdapColleagues;
  readonly #names: LdapUserNames;
  readonly #agreements: MirroredEntries<MirroredAgreement> | undefined;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly baseDn: string;
    readonly logger: LoggerService;
    /**
     * At least so many milliseconds between two looks for entries that are
     * gone. Default 10,000.
     */
    readonly comparisonIntervalMs?: number;
    /** As `RecentRecords` has it. */
    readonly keptRecords: number;
  }) {
    const containers = containersBelow(options.baseDn);
    const rooms = { ...options, containers };
    const mirrors = createMirrors(rooms);
    this.#mirrors = mirrors;
    this.#users = new LdapUsers({
      ...rooms,
      mirror: mirrors.users,
      clock: mirrors.clock,
    });
    this.#groups = new LdapGroups({ ...rooms, mirror: mirrors.groups });
    this.#groupSearch = new LdapGroupSearch(rooms);
    const people = { users: this.#users, groups: this.#groups };
    this.#memberships = new LdapMemberships({
      ...people,
      mirror: mirrors.memberships,
    });
    this.#colleagues = new LdapColleagues({
      ...people,
      memberships: this.#memberships,
    });
    this.#names = new LdapUserNames({
      ...people,
      memberships: this.#memberships,
    });
    this.#agreements = options.schema.hasAgreements
      ? mirrors.agreements
      : undefined;
  }

  /** Drops what is kept to answer faster: for when it is seldom asked. */
  forget(): void {
    this.#mirrors.forget();
    this.#users.forget();
  }

  async getUser(
    query: UsersQuery & OfAccounts & OfUser,
    context: DirectoryContext,
  ): Promise<User | undefined> {
    return this.#users.get(query, context);
  }

  async listUsers(
    query: UsersQuery & OfAccounts & Paged,
    context: DirectoryContext,
  ): Promise<Page<User>> {
    return this.#users.page(
      await this.#names.accounts(query, context),
      query,
      context,
    );
  }

  async streamUsers(
    query: UsersQuery & OfAccounts,
    context: DirectoryContext,
  ): Promise<UserStream> {
    const names = await this.#names.accounts(query, context);
    return streamUsers(names, { users: this.#users, query, asking: context });
  }

  async searchUsers(
    query: UsersQuery &
      OfAccounts &
      Paged & { readonly terms: readonly UserSearchTerm[] },
    context: DirectoryContext,
  ): Promise<Page<User>> {
    const names = await this.#names.found(query, context);
    return this.#users.page(names, query, context);
  }

  async listUserGroups(
    query: GroupsQuery & OfAccounts & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group> | undefined> {
    const user = await this.#users.readServed(query, ['memberOf'], context);
    if (!user) {
      return undefined;
    }
    const groups = await this.#groups.names(context);
    const names = groups.unlockedAmong(
      textsOf(user, 'memberOf').map(normalizeDn),
    );
    return this.#groups.page(names, query, context);
  }

  async listUserAgreements(
    query: OfAccounts & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<string> | undefined> {
    const user = await this.#users.readServed(query, ['objectClass'], context);
    if (!user) {
      return undefined;
    }
    const agreements = (await this.#agreements?.current(context)) ?? new Map();
    const dn = normalizeDn(user.dn);
    const names = [...agreements.values()]
      .filter(({ enabled, signers }) => enabled && signers.has(dn))
      .map(({ name }) => name)
      .sort(compareNames);
    return { items: slicePage(names, query.page), total: names.length };
  }

  async getGroup(
    query: GroupsQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<Group | undefined> {
    return this.#groups.get(query, context);
  }

  async listGroups(
    query: GroupsQuery & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group>> {
    const { inOrder } = await this.#groups.names(context);
    return this.#groups.page(inOrder, query, context);
  }

  async listGroupMembers(
    query: UsersQuery & OfGroup & Paged & MemberSelection,
    context: DirectoryContext,
  ): Promise<Page<User> | undefined> {
    const names = await this.#names.members(query, context);
    return names && this.#users.page(names, query, context);
  }

  async streamGroupMembers(
    query: UsersQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<UserStream | undefined> {
    const names = await this.#names.members(query, context);
    const users = this.#users;
    return names && streamUsers(names, { users, query, asking: context });
  }

  async listGroupSponsors(
    query: UsersQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<readonly User[] | undefined> {
    const dns = await this.#groups.sponsors(query.groupname, context);
    if (!dns) {
      return undefined;
    }
    const users = await this.#users.names(context);
    return this.#users.records(users.unlockedAmong(dns), query, context);
  }

  async isMember(
    query: OfUser & OfGroup,
    context: DirectoryContext,
  ): Promise<boolean | undefined> {
    const group = await this.#groups.servedDn(query.groupname, context);
    return (
      group &&
      this.#users.isMember({ username: query.username, group }, context)
    );
  }

  async listUserMemberships(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Membership> | undefined> {
    return this.#memberships.list(query, context);
  }

  async listSponsoredGroups(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group> | undefined> {
    return this.#memberships.listSponsored(query, context);
  }

  async listMemberGroups(
    query: GroupsQuery & OfGroup & Paged,
    context: DirectoryContext,
  ): Promise<Page<MemberGroup> | undefined> {
    return this.#memberships.listMemberGroups(query, context);
  }

  async searchGroups(
    query: GroupsQuery & Paged & { readonly terms: readonly GroupSearchTerm[] },
    context: DirectoryContext,
  ): Promise<Page<Group>> {
    const names = await this.#groupSearch.find(query.terms, context);
    return this.#groups.page(names, query, context);
  }

  async countGroupMembers(
    query: { readonly groupnames: readonly string[] },
    context: DirectoryContext,
  ): Promise<ReadonlyMap<string, number>> {
    return this.#memberships.count(query.groupnames, context);
  }

  async listColleagues(
    query: UsersQuery & Paged & { readonly dn: string },
    context: DirectoryContext,
  ): Promise<Page<User>> {
    return this.#colleagues.list(query, context);
  }
}
