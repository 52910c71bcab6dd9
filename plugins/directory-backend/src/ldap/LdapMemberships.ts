import type {
  DirectoryContext,
  GroupsQuery,
  MemberSelection,
  OfGroup,
  OfUser,
  Paged,
} from '../directory/Directory';
import type { Group } from '../directory/Group';
import type { MemberGroup } from '../directory/MemberGroup';
import type { Membership } from '../directory/Membership';
import type { Page } from '../directory/Page';
import { normalizeDn, type DistinguishedName } from './DistinguishedName';
import type { LdapGroups } from './LdapGroups';
import type { Asking } from './LdapReader';
import type { LdapUsers } from './LdapUsers';
import type { GroupNames } from '../directory/GroupLinks';
import { MembershipGraph } from '../directory/MembershipGraph';
import type { MirroredEntries } from './MirroredEntries';
import { MirroredLinks } from './MirroredLinks';
import type { ServedNames } from './ServedNames';

/** Why who is in which group: answers from the mirror of memberships. */
export class LdapMemberships {
  readonly #users: LdapUsers;
  readonly #groups: LdapGroups;
  readonly #mirror: MirroredEntries<GroupNames>;
  readonly #graphs = new WeakMap<
    ReadonlyMap<string, GroupNames>,
    MembershipGraph
  >();
  readonly #counts = new WeakMap<
    MembershipGraph,
    WeakMap<ServedNames, Map<string, number>>
  >();

  constructor(options: {
    readonly users: LdapUsers;
    readonly groups: LdapGroups;
    readonly mirror: MirroredEntries<GroupNames>;
  }) {
    this.#users = options.users;
    this.#groups = options.groups;
    this.#mirror = options.mirror;
  }

  /** Who is in which group now; made once for each state of the mirror. */
  async graph(asking: Asking): Promise<MembershipGraph> {
    const groups = await this.#mirror.current(asking);
    let graph = this.#graphs.get(groups);
    if (!graph) {
      graph = new MembershipGraph(new MirroredLinks(groups));
      this.#graphs.set(groups, graph);
    }
    return graph;
  }

  /** As `Directory.listUserMemberships`. */
  async list(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Membership> | undefined> {
    const dn = await this.#servedUser(query.username, context);
    if (dn === undefined) {
      return undefined;
    }
    const graph = await this.graph(context);
    const served = await this.#groups.names(context);
    const chains = graph.chainsFrom(dn);
    const sponsored = graph.sponsoredBy([dn, ...chains.keys()]);
    const names = served.unlockedAmong(chains.keys());
    return this.#pageOf(names, query, context, (group, groupDn) => {
      const chain = chains.get(groupDn)!;
      return {
        group,
        direct: chain.length === 1,
        sponsor: sponsored.has(groupDn),
        path: chain.map(step => served.get(step)?.name),
      };
    });
  }

  /** As `Directory.listSponsoredGroups`. */
  async listSponsored(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group> | undefined> {
    const dn = await this.#servedUser(query.username, context);
    if (dn === undefined) {
      return undefined;
    }
    const graph = await this.graph(context);
    const served = await this.#groups.names(context);
    const sponsored = graph.sponsoredBy([dn, ...graph.chainsFrom(dn).keys()]);
    return this.#groups.page(served.unlockedAmong(sponsored), query, context);
  }

  /** As `Directory.listMemberGroups`. */
  async listMemberGroups(
    query: GroupsQuery & OfGroup & Paged,
    context: DirectoryContext,
  ): Promise<Page<MemberGroup> | undefined> {
    const served = await this.#groups.names(context);
    const dn = this.#groups.dnAmong(served, query.groupname);
    if (dn === undefined) {
      return undefined;
    }
    const graph = await this.graph(context);
    const nestedIn = (group: string) =>
      graph.groupsIn(group, name => served.get(name) !== undefined);
    const names = served.unlockedAmong(nestedIn(normalizeDn(dn)));
    return this.#pageOf(names, query, context, (group, groupDn) => ({
      group,
      hasMemberGroups: nestedIn(groupDn).size > 0,
    }));
  }

  /** As `Directory.countGroupMembers`. */
  async count(
    groupnames: readonly string[],
    asking: Asking,
  ): Promise<ReadonlyMap<string, number>> {
    const served = await this.#groups.names(asking);
    const users = await this.#users.names(asking);
    const graph = await this.graph(asking);
    return new Map(
      groupnames.map(groupname => {
        const dn = this.#groups.dnAmong(served, groupname);
        const count = dn === undefined ? 0 : this.countIn(graph, users, dn);
        return [groupname, count];
      }),
    );
  }

  /** How many unlocked, served users are in a group, counted once. */
  countIn(graph: MembershipGraph, users: ServedNames, dn: string): number {
    const ofGraph = this.#counts.get(graph) ?? new WeakMap();
    this.#counts.set(graph, ofGraph);
    const counts: Map<string, number> = ofGraph.get(users) ?? new Map();
    ofGraph.set(users, counts);
    const group = normalizeDn(dn);
    let count = counts.get(group);
    if (count === undefined) {
      count = users.countUnlocked(graph.membersOf(group));
      counts.set(group, count);
    }
    return count;
  }

  /**
   * The names of the users who are in a group in this way, in order;
   * `undefined` when the group is not served.
   */
  async members(
    query: OfGroup & Pick<MemberSelection, 'membership'>,
    asking: Asking,
  ): Promise<readonly string[] | undefined> {
    const dn = await this.#groups.servedDn(query.groupname, asking);
    if (dn === undefined) {
      return undefined;
    }
    const users = await this.#users.names(asking);
    return users.unlockedAmong(
      selected(await this.graph(asking), dn, query.membership),
    );
  }

  async #servedUser(
    username: string,
    asking: Asking,
  ): Promise<string | undefined> {
    const user = await this.#users.readServed(
      { username },
      ['objectClass'],
      asking,
    );
    return user && normalizeDn(user.dn);
  }

  /** One page of served groups, each with what is known of it. */
  async #pageOf<T>(
    names: readonly string[],
    query: GroupsQuery & Paged,
    asking: Asking,
    present: (group: Group, dn: string) => T,
  ): Promise<Page<T>> {
    const { items, total } = await this.#groups.page(names, query, asking);
    const dnOf = (group: Group) =>
      normalizeDn(this.#groups.dnOf(group.groupname));
    return { items: items.map(group => present(group, dnOf(group))), total };
  }
}

function selected(
  graph: MembershipGraph,
  groupDn: DistinguishedName,
  membership: MemberSelection['membership'],
): ReadonlySet<string> {
  const dn = normalizeDn(groupDn);
  switch (membership) {
    case 'direct':
      return graph.directMembersOf(dn);
    case 'indirect': {
      const direct = graph.directMembersOf(dn);
      const all = [...graph.membersOf(dn)];
      return new Set(all.filter(member => !direct.has(member)));
    }
    default:
      return graph.membersOf(dn);
  }
}
