import type { GroupNames } from '../sync/ReplicaSource';

/** Who names whom, of all groups, served or not, by normalized DNs. */
export interface GroupLinks {
  get(group: string): GroupNames | undefined;
  /** The groups whose `member` names an entry, in the order of their DNs. */
  groupsNaming(entry: string): readonly string[];
  /** The groups whose `memberManager` names an entry. */
  groupsManagedBy(entry: string): readonly string[];
}

/** Who is in which group, and through which. All names are normalized DNs. */
export class MembershipGraph {
  readonly #links: GroupLinks;

  constructor(links: GroupLinks) {
    this.#links = links;
  }

  /** What a group itself names. */
  directMembersOf(group: string): ReadonlySet<string> {
    return new Set(this.#links.get(group)?.members);
  }

  /** All that is in a group, directly or through other groups. */
  membersOf(group: string): ReadonlySet<string> {
    const found = this.directMembersOf(group) as Set<string>;
    // A set that grows while it is walked gives what is new, too.
    for (const member of found) {
      for (const further of this.#links.get(member)?.members ?? []) {
        found.add(further);
      }
    }
    return found;
  }

  /**
   * All names in any of these groups, directly or through other groups: those
   * of the groups among them, too, and some more than once.
   */
  *membersWithin(groups: Iterable<string>): Iterable<string> {
    const found = new Set(groups);
    for (const group of found) {
      for (const member of this.#links.get(group)?.members ?? []) {
        if (this.#links.get(member)) {
          found.add(member);
        }
        yield member;
      }
    }
  }

  /** The groups that an entry is in, directly or through other groups. */
  groupsOf(entry: string): ReadonlySet<string> {
    const found = new Set(this.#links.groupsNaming(entry));
    for (const group of found) {
      for (const further of this.#links.groupsNaming(group)) {
        found.add(further);
      }
    }
    return found;
  }

  /**
   * The groups that an entry is in, each with a shortest chain that leads
   * there: the first by the groups' names.
   */
  chainsFrom(entry: string): ReadonlyMap<string, readonly string[]> {
    const chains = new Map<string, readonly string[]>();
    const open: [string, readonly string[]][] = [[entry, []]];
    // Those found first are left first, so that chains grow in order.
    for (const [from, chain] of open) {
      for (const group of this.#links.groupsNaming(from)) {
        if (!chains.has(group)) {
          const longer = [...chain, group];
          chains.set(group, longer);
          open.push([group, longer]);
        }
      }
    }
    return chains;
  }

  /** The groups that any of these entries sponsors. */
  sponsoredBy(entries: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    for (const entry of entries) {
      for (const group of this.#links.groupsManagedBy(entry)) {
        found.add(group);
      }
    }
    return found;
  }

  /**
   * The served groups among a group's members, those of groups that are not
   * served in their place.
   */
  groupsIn(
    group: string,
    isServed: (group: string) => boolean,
  ): ReadonlySet<string> {
    const found = new Set<string>();
    const seen = new Set([group]);
    const open = [group];
    for (const from of open) {
      for (const member of this.#links.get(from)?.members ?? []) {
        if (!this.#links.get(member) || seen.has(member)) {
          continue;
        }
        seen.add(member);
        if (isServed(member)) {
          found.add(member);
        } else {
          open.push(member);
        }
      }
    }
    return found;
  }
}
