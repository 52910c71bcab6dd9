import {
  MAX_COLLEAGUES,
  type ListedGroup,
  type MembershipReason,
} from '../../directory/Directory';
import type { DumpedEntry } from './DumpedEntry';
import type { NaiveMembership } from './NaiveMembership';
import { isLocked } from './naivePrincipal';
import { naiveTime } from './naiveRecords';
import { isHidden, type Viewer } from './naiveSearch';

/** What the API answers beyond the contract, each answer in full. */
export class NaiveExtensions {
  readonly #users: readonly DumpedEntry[];
  readonly #groups: readonly DumpedEntry[];
  readonly #membership: NaiveMembership;
  readonly #creation: string;

  constructor(options: {
    /** Every served user and group, in the order of lists. */
    readonly users: readonly DumpedEntry[];
    readonly groups: readonly DumpedEntry[];
    readonly membership: NaiveMembership;
    /** The attribute of `creation`. */
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
