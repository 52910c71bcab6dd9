import type { GroupLinks, GroupNames } from '../directory/GroupLinks';

type Groups = ReadonlyMap<string, GroupNames>;
type Inverted = ReadonlyMap<string, readonly string[]>;

/** Who names whom at one moment of a mirror. */
export class MirroredLinks implements GroupLinks {
  readonly #groups: Groups;
  #naming: Inverted | undefined;
  #managed: Inverted | undefined;

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  get(group: string): GroupNames | undefined {
    return this.#groups.get(group);
  }

  groupsNaming(entry: string): readonly string[] {
    this.#naming ??= inverted(this.#groups, group => group.members);
    return this.#naming.get(entry) ?? [];
  }

  groupsManagedBy(entry: string): readonly string[] {
    this.#managed ??= inverted(this.#groups, group => group.sponsors);
    return this.#managed.get(entry) ?? [];
  }
}

/** Who names an entry, in the order of their names. */
function inverted(
  groups: Groups,
  named: (group: GroupNames) => readonly string[],
): Inverted {
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
