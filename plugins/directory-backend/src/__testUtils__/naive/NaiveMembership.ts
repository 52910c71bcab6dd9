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
