import type { DumpedEntry } from './DumpedEntry';
import {
  type ListedGroup,
  MAX_COLLEAGUES,
  type MembershipReason,
} from '../../directory/Directory';
import { isLocked, naiveTime } from './naiveRecords';
import { type Viewer, isHidden } from './naiveSearch';

/** Memberships computed by following the values of `member`. */
export class NaiveMembership {
  readonly #groups: ReadonlyMap<string, DumpedEntry>;
  readonly #members = new Map<DumpedEntry, ReadonlySet<string>>();

  /** @param groups - all groups, served or not */
  constructor(groups: readonly DumpedEntry[]) {
    this.#groups = new Map(groups.map(group => [group.key, group]));
  }

  /** Returns the keys of the direct and indirect members of a group. */
  membersOf(group: DumpedEntry): ReadonlySet<string> {
    const known = this.#members.get(group);
    const members = known ?? this.#reach(group.links('member'));
    this.#members.set(group, members);
    return members;
  }

  /** Returns the keys of the direct and indirect sponsors of a group. */
  sponsorsOf(group: DumpedEntry): ReadonlySet<string> {
    return this.#reach(group.links('memberManager'));
  }

  /** Returns the direct and indirect groups of an entry. */
  groupsOf(key: string): readonly DumpedEntry[] {
    return [...this.#groups.values()].filter(group =>
      this.membersOf(group).has(key),
    );
  }

  /**
   * Returns the shortest chain from an entry to a group; of several, the first
   * by keys.
   */
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

  /**
   * Returns the visible nested groups; others are replaced by their nested
   * groups.
   */
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

/** Computes the results of the contract's extensions. */
export class NaiveExtensions {
  readonly #users: readonly DumpedEntry[];
  readonly #groups: readonly DumpedEntry[];
  readonly #membership: NaiveMembership;
  readonly #creation: string;

  constructor(options: {
    /** All served users and groups, in the order of lists. */
    readonly users: readonly DumpedEntry[];
    readonly groups: readonly DumpedEntry[];
    readonly membership: NaiveMembership;
    /** The attribute of the `creation` field. */
    readonly creation: string;
  }) {
    this.#users = options.users;
    this.#groups = options.groups;
    this.#membership = options.membership;
    this.#creation = options.creation;
  }

  groupsOf(user: DumpedEntry): readonly DumpedEntry[] {
    return this.#groups.filter(group =>
      this.#membership.membersOf(group).has(user.key),
    );
  }

  reason(user: DumpedEntry, group: DumpedEntry): MembershipReason {
    return {
      direct: group.links('member').includes(user.key),
      sponsor: this.sponsored(user).includes(group),
      path: this.#membership
        .chainTo(group, user.key)
        .map(step => this.#groups.find(served => served === step))
        .map(step => step?.text('cn')),
    };
  }

  sponsored(user: DumpedEntry): readonly DumpedEntry[] {
    return this.#groups.filter(group =>
      this.#membership.sponsorsOf(group).has(user.key),
    );
  }

  describeNested(group: DumpedEntry): Omit<ListedGroup, 'group'> {
    return { hasMemberGroups: this.groupsIn(group).length > 0 };
  }

  colleagues(dn: string): readonly DumpedEntry[] {
    const own = dn.toLowerCase();
    const membersOf = (group: DumpedEntry) =>
      this.#users.filter(
        user =>
          this.#membership.membersOf(group).has(user.key) && !isLocked(user),
      );
    const groups = this.#groups
      .filter(group => this.#membership.membersOf(group).has(own))
      .map(membersOf)
      .sort((a, b) => a.length - b.length);
    return groups.reduce<readonly DumpedEntry[]>((some, members) => {
      const together = this.#users
        .filter(user => some.includes(user) || members.includes(user))
        .filter(({ key }) => key !== own);
      return together.length > MAX_COLLEAGUES ? some : together;
    }, []);
  }

  newestFirst(
    users: readonly DumpedEntry[],
    viewer: Viewer,
  ): readonly DumpedEntry[] {
    const time = (user: DumpedEntry) => {
      const text = isHidden(user, 'creation', viewer)
        ? undefined
        : user.text(this.#creation);
      return text === undefined ? -Infinity : naiveTime(text);
    };
    const later = (a: DumpedEntry, b: DumpedEntry) =>
      time(a) === time(b) ? 0 : time(b) - time(a);
    return users.toSorted(later);
  }

  groupsIn(group: DumpedEntry): readonly DumpedEntry[] {
    const reached = this.#membership.groupsIn(group, nested =>
      this.#groups.includes(nested),
    );
    return this.#groups.filter(
      nested => nested !== group && reached.has(nested),
    );
  }
}
