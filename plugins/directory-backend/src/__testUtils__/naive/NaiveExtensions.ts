import {
  MAX_COLLEAGUES,
  type GroupsQuery,
  type OfGroup,
  type OfUser,
  type Paged,
  type UsersQuery,
} from '../../directory/Directory';
import type {
  GroupFieldTerm,
  GroupSearchTerm,
} from '../../directory/GroupSearch';
import type { MemberGroup } from '../../directory/MemberGroup';
import type { Membership } from '../../directory/Membership';
import { GROUP_ATTRIBUTES } from './attributes';
import type { DumpedEntry } from './DumpedEntry';
import { isContained, isEqual } from './matching';
import type { NaiveMembership } from './NaiveMembership';
import { isLocked } from './naivePrincipal';
import { naiveGroup, naiveTime } from './naiveRecord';

/** What is counted in full before a page is cut out of it. */
type Whole<Query extends Paged> = Omit<Query, 'page'>;

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

  memberships(
    user: DumpedEntry,
    { fields }: Whole<GroupsQuery & OfUser & Paged>,
  ): readonly Membership[] {
    const sponsored = this.sponsored(user);
    return this.#groups
      .filter(group => this.#membership.membersOf(group).has(user.key))
      .map(group => ({
        group: naiveGroup(group, fields),
        direct: group.links('member').includes(user.key),
        sponsor: sponsored.includes(group),
        path: this.#membership
          .chainTo(group, user.key)
          .map(step => this.#groups.find(served => served === step))
          .map(step => step?.text('cn')),
      }));
  }

  sponsored(user: DumpedEntry): readonly DumpedEntry[] {
    return this.#groups.filter(group =>
      this.#membership.sponsorsOf(group).has(user.key),
    );
  }

  memberGroups(
    group: DumpedEntry,
    { fields }: Whole<GroupsQuery & OfGroup & Paged>,
  ): readonly MemberGroup[] {
    return this.#groupsIn(group).map(nested => ({
      group: naiveGroup(nested, fields),
      hasMemberGroups: this.#groupsIn(nested).length > 0,
    }));
  }

  found(terms: readonly GroupSearchTerm[]): readonly DumpedEntry[] {
    return this.#groups.filter(group =>
      terms.every(term =>
        term.kind === 'anyOf'
          ? term.terms.some(alternative => applies(group, alternative))
          : applies(group, term),
      ),
    );
  }

  colleagues(
    dn: string,
    { visibleTo }: Whole<UsersQuery & Paged>,
  ): readonly DumpedEntry[] {
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
    const people = groups.reduce<readonly DumpedEntry[]>((some, members) => {
      const together = this.#users
        .filter(user => some.includes(user) || members.includes(user))
        .filter(({ key }) => key !== own);
      return together.length > MAX_COLLEAGUES ? some : together;
    }, []);
    const time = (user: DumpedEntry) => {
      const isHidden =
        visibleTo.kind === 'public' &&
        visibleTo.hidden.has('creation') &&
        user.text('fasIsPrivate')?.toUpperCase() === 'TRUE' &&
        user.text('uid') !== visibleTo.owner;
      const text = isHidden ? undefined : user.text(this.#creation);
      return text === undefined ? 0 : naiveTime(text);
    };
    return people.toSorted((a, b) => time(b) - time(a));
  }

  #groupsIn(group: DumpedEntry): readonly DumpedEntry[] {
    const reached = this.#membership.groupsIn(group, nested =>
      this.#groups.includes(nested),
    );
    return this.#groups.filter(
      nested => nested !== group && reached.has(nested),
    );
  }
}

function applies(group: DumpedEntry, term: GroupFieldTerm): boolean {
  return group.texts(GROUP_ATTRIBUTES[term.field]).some(value => {
    switch (term.kind) {
      case 'present':
        return true;
      case 'equals':
        return isEqual(value, term.text);
      default:
        return isContained(value, term.text);
    }
  });
}
