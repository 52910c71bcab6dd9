import type {
  MemberSelection,
  OfAccounts,
  OfGroup,
  UsersQuery,
} from '../directory/Directory';
import type { UserSearchTerm } from '../directory/UserSearch';
import { normalizeDn } from './DistinguishedName';
import type { LdapGroups } from './LdapGroups';
import type { LdapMemberships } from './LdapMemberships';
import type { Asking } from './LdapReader';
import type { LdapUsers } from './LdapUsers';

/** What selects users, whoever may see them. */
type Terms = Pick<UsersQuery, 'visibleTo'> & {
  readonly terms: readonly UserSearchTerm[];
};

/** Finds the names of the users whom a question is about, in order. */
export class LdapUserNames {
  readonly #users: LdapUsers;
  readonly #groups: LdapGroups;
  readonly #memberships: LdapMemberships;

  constructor(options: {
    readonly users: LdapUsers;
    readonly groups: LdapGroups;
    readonly memberships: LdapMemberships;
  }) {
    this.#users = options.users;
    this.#groups = options.groups;
    this.#memberships = options.memberships;
  }

  /** Everybody who is listed. */
  async accounts(
    { unlockedOnly }: OfAccounts,
    asking: Asking,
  ): Promise<readonly string[]> {
    const names = await this.#users.names(asking);
    return unlockedOnly ? names.unlockedInOrder : names.inOrder;
  }

  /** Those to whom all terms apply. */
  async found(
    query: Terms & OfAccounts,
    asking: Asking,
  ): Promise<readonly string[]> {
    const terms = query.terms.filter(term => term.kind !== 'memberOfAny');
    const groups = await this.#groups.names(asking);
    const names =
      terms.length > 0
        ? await this.#users.search(
            {
              ...query,
              terms,
              groupDn: name => this.#groups.dnAmong(groups, name),
            },
            asking,
          )
        : await this.accounts(query, asking);
    if (terms.length === query.terms.length || names.length === 0) {
      return names;
    }
    const members = await this.#groups.membersOfAny(asking);
    return names.filter(name =>
      members.has(normalizeDn(this.#users.dnOf(name))),
    );
  }

  /** A group's members, or some of them; `undefined` when there is no group. */
  async members(
    query: Pick<UsersQuery, 'visibleTo'> & OfGroup & MemberSelection,
    asking: Asking,
  ): Promise<readonly string[] | undefined> {
    if (query.membership || query.terms) {
      return this.#selectedMembers(query, asking);
    }
    // Straight from the directory.
    const dns = await this.#groups.members(query.groupname, asking);
    return dns && (await this.#users.names(asking)).unlockedAmong(dns);
  }

  async #selectedMembers(
    query: Pick<UsersQuery, 'visibleTo'> & OfGroup & MemberSelection,
    asking: Asking,
  ): Promise<readonly string[] | undefined> {
    const members = await this.#memberships.members(query, asking);
    if (!members?.length || !query.terms) {
      return members;
    }
    const { terms, visibleTo } = query;
    const found = new Set(await this.found({ terms, visibleTo }, asking));
    return members.filter(name => found.has(name));
  }
}
