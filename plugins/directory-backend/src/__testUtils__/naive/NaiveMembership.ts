import type { DumpedEntry } from './DumpedEntry';

/** Who is in which group, found by walking the values of `member`. */
export class NaiveMembership {
  readonly #groups: ReadonlyMap<string, DumpedEntry>;
  readonly #members = new Map<DumpedEntry, ReadonlySet<string>>();

  /** @param groups - every group, served or not, by its key */
  constructor(groups: readonly DumpedEntry[]) {
    this.#groups = new Map(groups.map(group => [group.key, group]));
  }

  /** Keys of all that is in a group, directly or through other groups. */
  membersOf(group: DumpedEntry): ReadonlySet<string> {
    const known = this.#members.get(group);
    const members = known ?? this.#reach(group.links('member'));
    this.#members.set(group, members);
    return members;
  }

  /** Keys of those who sponsor a group, in person or through a group. */
  sponsorsOf(group: DumpedEntry): ReadonlySet<string> {
    return this.#reach(group.links('memberManager'));
  }

  /** The groups that an entry is in, directly or through other groups. */
  groupsOf(key: string): readonly DumpedEntry[] {
    return [...this.#groups.values()].filter(group =>
      this.membersOf(group).has(key),
    );
  }

  /** Of the shortest chains from an entry to a group the first by keys. */
  chainTo(group: DumpedEntry, key: string): readonly DumpedEntry[] {
    let chains: (readonly DumpedEntry[])[] = [[group]];
    const ends = (chain: readonly DumpedEntry[]) =>
      chain[0].links('member').includes(key);
    while (!chains.some(ends)) {
      chains = chains.flatMap(chain =>
        [...this.#groups.values()]
          .filter(nested => chain[0].links('member').includes(nested.key))
          .filter(nested => !chain.includes(nested))
          .map(nested => [nested, ...chain]),
      );
    }
    const name = (chain: readonly DumpedEntry[]) =>
      chain.map(step => step.key).join('\0');
    return chains.filter(ends).sort((a, b) => (name(a) < name(b) ? -1 : 1))[0];
  }

  /** The groups among a group's members, looking through some of them. */
  groupsIn(
    group: DumpedEntry,
    isShown: (group: DumpedEntry) => boolean,
    through: readonly DumpedEntry[] = [],
  ): ReadonlySet<DumpedEntry> {
    const nested = group
      .links('member')
      .map(key => this.#groups.get(key))
      .filter(member => member !== undefined)
      .filter(member => !through.includes(member));
    return new Set(
      nested.flatMap(member =>
        isShown(member)
          ? [member]
          : [...this.groupsIn(member, isShown, [...through, member])],
      ),
    );
  }

  #reach(start: readonly string[]): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...start];
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      if (!found.has(key)) {
        found.add(key);
        open.push(...(this.#groups.get(key)?.links('member') ?? []));
      }
    }
    return found;
  }
}
