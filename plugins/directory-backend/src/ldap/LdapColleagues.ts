import {
  MAX_COLLEAGUES,
  type DirectoryContext,
  type Paged,
  type UsersQuery,
} from '../directory/Directory';
import { compareNames } from '../directory/names';
import { orderColleagues } from '../directory/orderColleagues';
import { slicePage, type Page } from '../directory/Page';
import type { User } from '../directory/User';
import { normalizeDn } from './DistinguishedName';
import type { LdapGroups } from './LdapGroups';
import type { LdapMemberships } from './LdapMemberships';
import type { LdapUsers } from './LdapUsers';

const CREATION = ['username', 'creation', 'is_private'] as const;

/** Finds people of somebody's groups: at most so many, in any directory. */
export class LdapColleagues {
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

  /** As `Directory.listColleagues`. */
  async list(
    query: UsersQuery & Paged & { readonly dn: string },
    context: DirectoryContext,
  ): Promise<Page<User>> {
    const names = await this.#candidates(normalizeDn(query.dn), context);
    const known = await this.#users.records(
      names,
      { fields: new Set(CREATION), visibleTo: query.visibleTo },
      context,
    );
    const inOrder = orderColleagues(known, query.visibleTo).map(
      ({ username }) => username,
    );
    const shown = slicePage(inOrder, query.page);
    const records = await this.#users.records(shown, query, context);
    const byName = new Map(records.map(user => [user.username, user]));
    return {
      items: shown.flatMap(name => byName.get(name) ?? []),
      total: inOrder.length,
    };
  }

  /** The names of those in the smallest groups. */
  async #candidates(
    dn: string,
    context: DirectoryContext,
  ): Promise<readonly string[]> {
    const graph = await this.#memberships.graph(context);
    const users = await this.#users.names(context);
    const served = await this.#groups.names(context);
    const bySize = served
      .unlockedAmong(graph.chainsFrom(dn).keys())
      .map(name => {
        const group = this.#groups.dnOf(name);
        const size = this.#memberships.countIn(graph, users, group);
        return { group: normalizeDn(group), size };
      })
      // One more: the caller is a member, too.
      .filter(({ size }) => size <= MAX_COLLEAGUES + 1)
      .sort((a, b) => a.size - b.size);
    let found: ReadonlySet<string> = new Set();
    for (const { group } of bySize) {
      const members = new Set(graph.membersOf(group));
      members.delete(dn);
      const together = new Set([...found, ...users.unlockedAmong(members)]);
      if (together.size <= MAX_COLLEAGUES) {
        found = together;
      }
    }
    return [...found].sort(compareNames);
  }
}
