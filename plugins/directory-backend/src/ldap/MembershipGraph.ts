/** What is mirrored of a group: normalized names of its entries. */
export interface MirroredGroup {
  /** `member`. */
  readonly members: readonly string[];
  /** `memberManager`. */
  readonly sponsors: readonly string[];
}

/** Who is in which group at one moment. All names are normalized DNs. */
export class MembershipGraph {
  readonly #groups: ReadonlyMap<string, MirroredGroup>;
  #groupsOf: ReadonlyMap<string, readonly string[]> | undefined;
  #sponsoredBy: ReadonlyMap<string, readonly string[]> | undefined;

  private constructor(groups: ReadonlyMap<string, MirroredGroup>) {
    this.#groups = groups;
  }

  static readonly #made = new WeakMap<
    ReadonlyMap<string, MirroredGroup>,
    MembershipGraph
  >();

  /** Made once for each state of the mirror. */
  static of(groups: ReadonlyMap<string, MirroredGroup>): MembershipGraph {
    let graph = MembershipGraph.#made.get(groups);
    if (!graph) {
      graph = new MembershipGraph(groups);
      MembershipGraph.#made.set(groups, graph);
    }
    return graph;
  }

  /** What a group itself names. */
  directMembersOf(group: string): ReadonlySet<string> {
    return new Set(this.#groups.get(group)?.members);
  }

  /** All that is in a group, directly or through other groups. */
  membersOf(group: string): ReadonlySet<string> {
    const found = this.directMembersOf(group) as Set<string>;
    // A set that grows while it is walked gives what is new, too.
    for (const member of found) {
      for (const further of this.#groups.get(member)?.members ?? []) {
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
      for (const group of this.#groupsNaming(from)) {
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
    this.#sponsoredBy ??= inverted(this.#groups, group => group.sponsors);
    const found = new Set<string>();
    for (const entry of entries) {
      for (const group of this.#sponsoredBy.get(entry) ?? []) {
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
      for (const member of this.#groups.get(from)?.members ?? []) {
        if (!this.#groups.has(member) || seen.has(member)) {
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

  #groupsNaming(member: string): readonly string[] {
    this.#groupsOf ??= inverted(this.#groups, group => group.members);
    return this.#groupsOf.get(member) ?? [];
  }
}

/** Who names an entry, in the order of their names. */
function inverted(
  groups: ReadonlyMap<string, MirroredGroup>,
  named: (group: MirroredGroup) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const naming = new Map<string, string[]>();
  for (const dn of [...groups.keys()].sort()) {
    for (const entry of named(groups.get(dn)!)) {
      const others = naming.get(entry);
      if (others) {
        others.push(dn);
      } else {
        naming.set(entry, [dn]);
      }
    }
  }
  return naming;
}
