import type { GroupLinks } from './entries';

/** Index of links in reverse direction. */
export class LinkIndex {
  readonly #sources = new Map<string, string[]>();

  /** Returns the sources that link to a target, in order. */
  of(target: string): readonly string[] {
    return this.#sources.get(target) ?? [];
  }

  /**
   * Replaces the targets of a source.
   *
   * @returns whether the targets have changed
   */
  replace(
    source: string,
    old: readonly string[],
    targets: readonly string[],
  ): boolean {
    const { removed, added } = difference(old, targets);
    for (const target of removed) {
      this.#remove(target, source);
    }
    for (const target of added) {
      this.#add(target, source);
    }
    return removed.size + added.size > 0;
  }

  #add(target: string, source: string): void {
    const sources = this.#sources.get(target);
    if (!sources) {
      this.#sources.set(target, [source]);
      return;
    }
    const after = sources.findIndex(other => other > source);
    sources.splice(after === -1 ? sources.length : after, 0, source);
  }

  #remove(target: string, source: string): void {
    const others = this.of(target).filter(other => other !== source);
    if (others.length > 0) {
      this.#sources.set(target, others);
    } else {
      this.#sources.delete(target);
    }
  }
}

const NO_LINKS: GroupLinks = { members: [], sponsors: [] };

/**
 * Members and sponsors of all groups, served or not. Users and groups are
 * identified by normalized DNs. An entry is "in" a group directly or through
 * other groups.
 */
export class MembershipGraph {
  readonly #links = new Map<string, GroupLinks>();
  readonly #groupsByMember = new LinkIndex();
  readonly #groupsBySponsor = new LinkIndex();

  /** Number of groups. */
  get size(): number {
    return this.#links.size;
  }

  get(group: string): GroupLinks | undefined {
    return this.#links.get(group);
  }

  /** @returns whether the group is new or its links have changed */
  set(group: string, links: GroupLinks): boolean {
    const isNew = !this.#links.has(group);
    const hasChanged = this.#replace(group, links);
    this.#links.set(group, links);
    return isNew || hasChanged;
  }

  /** @returns whether the group existed */
  delete(group: string): boolean {
    this.#replace(group, NO_LINKS);
    return this.#links.delete(group);
  }

  /**
   * Changes the key of a user or group in the links of all groups.
   *
   * @returns the groups whose links have changed
   */
  replaceLinks(from: string, to: string): readonly string[] {
    const referring = new Set([
      ...this.#groupsByMember.of(from),
      ...this.#groupsBySponsor.of(from),
    ]);
    for (const group of referring) {
      const links = this.#links.get(group)!;
      const { members, sponsors } = links;
      this.set(group, {
        ...links,
        members: replaceItem(members, from, to),
        sponsors: replaceItem(sponsors, from, to),
      });
    }
    return [...referring];
  }

  /** Returns the direct members of a group. */
  directMembersOf(group: string): readonly string[] {
    return this.#links.get(group)?.members ?? [];
  }

  /** Returns all entries in a group. */
  membersOf(group: string): ReadonlySet<string> {
    const found = new Set(this.directMembersOf(group));
    // Iteration includes the members that are added to the set during the loop.
    for (const member of found) {
      for (const further of this.directMembersOf(member)) {
        found.add(further);
      }
    }
    return found;
  }

  /** Yields all entries in any of these groups; an entry may be repeated. */
  *membersWithin(groups: Iterable<string>): Iterable<string> {
    const found = new Set(groups);
    for (const group of found) {
      for (const member of this.directMembersOf(group)) {
        if (this.#links.has(member)) {
          found.add(member);
        }
        yield member;
      }
    }
  }

  /** Returns the groups of which an entry is a direct member. */
  directGroupsOf(entry: string): readonly string[] {
    return this.#groupsByMember.of(entry);
  }

  /** Returns the groups that an entry is in. */
  groupsOf(entry: string): ReadonlySet<string> {
    const found = new Set(this.#groupsByMember.of(entry));
    for (const group of found) {
      for (const further of this.#groupsByMember.of(group)) {
        found.add(further);
      }
    }
    return found;
  }

  /**
   * Returns the groups that an entry is in, each with the shortest chain of
   * groups that leads to it. Among equally short chains, the first by group DN
   * is used.
   */
  chainsFrom(entry: string): ReadonlyMap<string, readonly string[]> {
    const chains = new Map<string, readonly string[]>();
    const queue: [string, readonly string[]][] = [[entry, []]];
    for (const [from, chain] of queue) {
      for (const group of this.#groupsByMember.of(from)) {
        if (!chains.has(group)) {
          const longer = [...chain, group];
          chains.set(group, longer);
          queue.push([group, longer]);
        }
      }
    }
    return chains;
  }

  /** Returns the groups that any of these entries sponsors. */
  sponsoredBy(entries: Iterable<string>): ReadonlySet<string> {
    return new Set(
      [...entries].flatMap(entry => this.#groupsBySponsor.of(entry)),
    );
  }

  /**
   * Returns the served groups among a group's members. A member group that is
   * not served is replaced by its own member groups.
   */
  groupsIn(
    group: string,
    isServed: (group: string) => boolean,
  ): ReadonlySet<string> {
    const found = new Set<string>();
    const seen = new Set([group]);
    const queue = [group];
    for (const from of queue) {
      for (const member of this.directMembersOf(from)) {
        if (!this.#links.has(member) || seen.has(member)) {
          continue;
        }
        seen.add(member);
        if (isServed(member)) {
          found.add(member);
        } else {
          queue.push(member);
        }
      }
    }
    return found;
  }

  #replace(group: string, { members, sponsors }: GroupLinks): boolean {
    const old = this.#links.get(group) ?? NO_LINKS;
    const hasMembers = this.#groupsByMember.replace(
      group,
      old.members,
      members,
    );
    const hasSponsors = this.#groupsBySponsor.replace(
      group,
      old.sponsors,
      sponsors,
    );
    return hasMembers || hasSponsors;
  }
}

/** Replaces an item of a list without repeating the new one. */
function replaceItem(
  items: readonly string[],
  from: string,
  to: string,
): readonly string[] {
  const at = items.indexOf(from);
  if (at === -1) {
    return items;
  }
  return items.includes(to)
    ? items.filter(item => item !== from)
    : items.with(at, to);
}

/**
 * Returns the items that only one of two lists has. Usually a single member of
 * a large group changes.
 */
export function difference(
  old: readonly string[],
  now: readonly string[],
): { readonly removed: Set<string>; readonly added: Set<string> } {
  const { start, oldEnd, end } = differingPart(old, now);
  const removed = new Set(old.slice(start, oldEnd));
  const added = new Set(now.slice(start, end));
  for (const item of removed.size > 0 ? [...added] : []) {
    if (removed.delete(item)) {
      added.delete(item);
    }
  }
  return { removed, added };
}

/**
 * Returns where two lists begin to differ and where the differing parts end.
 */
export function differingPart(old: readonly string[], now: readonly string[]) {
  let start = 0;
  while (start < old.length && old[start] === now[start]) {
    start++;
  }
  let oldEnd = old.length;
  let end = now.length;
  while (oldEnd > start && end > start && old[oldEnd - 1] === now[end - 1]) {
    oldEnd--;
    end--;
  }
  return { start, oldEnd, end };
}
