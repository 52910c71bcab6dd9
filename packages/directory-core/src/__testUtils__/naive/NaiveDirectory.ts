import type {
  ByTier,
  Directory,
  GroupQuery,
  GroupSelection,
  ListedGroup,
  MembershipReason,
  Paged,
  UserQuery,
  UserSelection,
  UserStream,
  Visibility,
} from '../../directory/Directory';
import type { Group, User } from '../../directory/records';
import type { Page, PageRequest } from '../../directory/Page';
import type { GroupPredicate, UserPredicate } from '../../directory/predicates';
import type {
  Principal,
  PrincipalLookup,
  PrincipalQuery,
} from '../../directory/Principal';
import type { UserField } from '../../directory/schema';
import {
  NAIVE_SCHEMAS,
  isLocked,
  naiveGroup,
  naivePrincipal,
  naiveUser,
} from './naiveRecords';
import type { DumpedEntry } from './DumpedEntry';
import { NaiveExtensions, NaiveMembership } from './NaiveMembership';
import {
  type Viewer,
  groupApplies,
  isHidden,
  userApplies,
} from './naiveSearch';

const EVERYTHING: Viewer = { kind: 'everything' };
const SUFFIX = 'dc=example,dc=test';
const USERS = `cn=users,cn=accounts,${SUFFIX}`;
const GROUPS = `cn=groups,cn=accounts,${SUFFIX}`;
const AGREEMENTS = `cn=fasagreements,${SUFFIX}`;

/**
 * A model of the directory in which each method reads all entries of a dump in
 * the simplest way.
 */
export class NaiveDirectory implements Directory {
  readonly #entries: readonly DumpedEntry[];
  readonly #schema: 'fas' | 'freeipa';
  readonly #membership: NaiveMembership;
  readonly #extensions: NaiveExtensions;
  readonly #attributes: Partial<Record<UserField, string>>;
  /** All served users and groups, in the order of lists. */
  readonly users: readonly DumpedEntry[];
  readonly groups: readonly DumpedEntry[];
  readonly principals = {
    find: (query: PrincipalQuery) => this.#findPrincipal(query),
  } satisfies PrincipalLookup;

  constructor(
    entries: readonly DumpedEntry[],
    schema: 'fas' | 'freeipa',
    isVisible: (entry: DumpedEntry) => boolean = () => true,
  ) {
    const { userClass, groupClass, attributes } = NAIVE_SCHEMAS[schema];
    this.#entries = entries;
    this.#schema = schema;
    this.#attributes = attributes;
    this.#membership = new NaiveMembership(
      entries.filter(entry => entry.isIn(GROUPS)),
    );
    this.users = served(entries, USERS, { as: userClass, by: 'uid' }).filter(
      isVisible,
    );
    this.groups = served(entries, GROUPS, { as: groupClass, by: 'cn' }).filter(
      isVisible,
    );
    this.#extensions = new NaiveExtensions({
      users: this.users,
      groups: this.groups,
      membership: this.#membership,
      creation: this.#attributes.creation!,
    });
  }

  /** Returns the directory as if only the visible entries were served. */
  restrictedTo({ users, groups }: Visibility): NaiveDirectory {
    const visible = new Set([
      ...this.users.filter(
        user => !users || this.#applies(user, users, EVERYTHING),
      ),
      ...this.groups.filter(
        group => !groups || this.#groupApplies(group, groups),
      ),
    ]);
    return new NaiveDirectory(this.#entries, this.#schema, entry =>
      visible.has(entry),
    );
  }

  /** Returns the Kerberos principal names of all accounts. */
  principalNames(): readonly string[] {
    return this.#entries.flatMap(entry => entry.texts('krbPrincipalName'));
  }

  async #findPrincipal(query: PrincipalQuery): Promise<Principal | undefined> {
    const found = this.#entries.filter(entry =>
      'principal' in query
        ? entry.key.endsWith(`,cn=accounts,${SUFFIX}`) &&
          entry.texts('krbPrincipalName').includes(query.principal)
        : entry.key === `uid=${query.username},${USERS}`.toLowerCase() &&
          isValidName(query.username) &&
          entry.isA('posixAccount'),
    );
    return found.length === 1
      ? naivePrincipal(found[0], {
          isUser: found[0].isIn(USERS),
          served: this.users.includes(found[0]),
          groups: this.#membership.groupsOf(found[0].key),
        })
      : undefined;
  }

  async getUser(query: UserQuery): Promise<User | undefined> {
    const entry = named(this.#accounts(query), 'uid', query.username);
    return entry && this.#user(entry, query.fields);
  }

  async getGroup(query: GroupQuery): Promise<Group | undefined> {
    const entry = named(this.groups, 'cn', query.groupname);
    return entry && naiveGroup(entry, query.fields);
  }

  async listUsers(
    selection: UserSelection & Paged,
  ): Promise<Page<User> | undefined> {
    return this.#listUsers(selection, EVERYTHING);
  }

  /**
   * Lists users for a viewer: neither conditions nor orders apply to fields
   * that a user hides. Records are not redacted.
   */
  listUsersFor(
    viewer: Viewer,
    selection: UserSelection & Paged,
  ): Page<User> | undefined {
    return this.#listUsers(selection, viewer);
  }

  async streamUsers(selection: UserSelection): Promise<UserStream | undefined> {
    const page = { number: 1, size: this.users.length };
    const all = this.#listUsers({ ...selection, page }, EVERYTHING);
    return all && streamOf(all);
  }

  async listGroups({
    from,
    where,
    order,
    fields,
    page,
  }: GroupSelection & Paged): Promise<Page<ListedGroup> | undefined> {
    const found = this.#groupsFrom(from);
    if (!found) {
      return undefined;
    }
    const groups = found.groups.filter(
      group => !where || this.#groupApplies(group, where),
    );
    const ordered =
      order?.kind === 'byTier'
        ? byTier(groups, order.tiers, (group, tier) =>
            this.#groupApplies(group, tier),
          )
        : this.#sortedGroups(groups, order);
    const { items, total } = pageOf(ordered, page);
    return {
      items: items.map(group => ({
        group: naiveGroup(group, fields),
        ...found.describe?.(group),
      })),
      total,
    };
  }

  #sortedGroups(
    groups: readonly DumpedEntry[],
    order: Exclude<GroupSelection['order'], ByTier<GroupPredicate>>,
  ): readonly DumpedEntry[] {
    const valueOf = (group: DumpedEntry) =>
      order?.kind === 'bySize'
        ? this.#unlocked(this.#membership.membersOf(group)).length
        : this.groups.indexOf(group);
    return sorted(groups, valueOf, order?.descending ?? false);
  }

  async isMember(query: {
    readonly username: string;
    readonly groupname: string;
  }): Promise<boolean | undefined> {
    const group = named(this.groups, 'cn', query.groupname);
    const user = named(this.users, 'uid', query.username);
    return (
      group &&
      user !== undefined &&
      this.#unlocked(this.#membership.membersOf(group)).includes(user)
    );
  }

  async countMembers(query: {
    readonly groupnames: readonly string[];
  }): Promise<ReadonlyMap<string, number>> {
    return new Map(
      query.groupnames.map(name => {
        const group = named(this.groups, 'cn', name);
        const members = group && this.#membership.membersOf(group);
        return [name, members ? this.#unlocked(members).length : 0];
      }),
    );
  }

  async membershipReasons(query: {
    readonly groupname: string;
    readonly usernames: readonly string[];
  }): Promise<ReadonlyMap<string, MembershipReason>> {
    const group = named(this.groups, 'cn', query.groupname);
    const reasons = new Map<string, MembershipReason>();
    for (const username of group ? query.usernames : []) {
      const user = named(this.users, 'uid', username);
      if (user && this.#membership.membersOf(group!).has(user.key)) {
        reasons.set(username, this.#extensions.reason(user, group!));
      }
    }
    return reasons;
  }

  async listAgreements(
    query: Pick<UserQuery, 'username' | 'unlockedOnly'> & Paged,
  ): Promise<Page<string> | undefined> {
    const user = named(this.#accounts(query), 'uid', query.username);
    return user && pageOf(naiveAgreements(this.#entries, user), query.page);
  }

  #listUsers(
    { from, where, unlockedOnly, order, fields, page }: UserSelection & Paged,
    viewer: Viewer,
  ): Page<User> | undefined {
    const source = this.#usersFrom(from, unlockedOnly);
    if (!source) {
      return undefined;
    }
    const users = source.filter(
      entry => !where || this.#applies(entry, where, viewer),
    );
    const { items, total } = pageOf(this.#inOrder(users, order, viewer), page);
    return { items: items.map(entry => this.#user(entry, fields)), total };
  }

  #inOrder(
    users: readonly DumpedEntry[],
    order: UserSelection['order'],
    viewer: Viewer,
  ): readonly DumpedEntry[] {
    switch (order?.kind) {
      case 'newestFirst':
        return this.#extensions.newestFirst(users, viewer);
      case 'byValue':
        return sorted(
          users,
          user =>
            isHidden(user, order.field, viewer)
              ? undefined
              : order.valueOf(this.#user(user, new Set([order.field]))),
          order.descending,
        );
      case 'byTier':
        return byTier(users, order.tiers, (user, tier) =>
          this.#applies(user, tier, viewer),
        );
      default:
        return users;
    }
  }

  #usersFrom(
    from: UserSelection['from'],
    unlockedOnly?: boolean,
  ): readonly DumpedEntry[] | undefined {
    if (from.kind === 'all') {
      return this.#accounts({ unlockedOnly });
    }
    if (from.kind === 'colleaguesOf') {
      return this.#extensions.colleagues(from.dn);
    }
    const group = named(this.groups, 'cn', from.groupname);
    if (!group) {
      return undefined;
    }
    if (from.kind === 'sponsorsOf') {
      return this.#unlocked(this.#membership.sponsorsOf(group));
    }
    const { membership } = from;
    const direct = group.links('member');
    if (membership === 'locked') {
      const keys = this.#membership.membersOf(group);
      return this.users.filter(user => keys.has(user.key) && isLocked(user));
    }
    return this.#unlocked(this.#membership.membersOf(group))
      .filter(({ key }) => membership !== 'direct' || direct.includes(key))
      .filter(({ key }) => membership !== 'indirect' || !direct.includes(key));
  }

  #groupsFrom(from: GroupSelection['from']):
    | {
        readonly groups: readonly DumpedEntry[];
        readonly describe?: (group: DumpedEntry) => Omit<ListedGroup, 'group'>;
      }
    | undefined {
    const extensions = this.#extensions;
    if (from.kind === 'all') {
      return { groups: this.groups };
    }
    if (from.kind === 'nestedIn') {
      const group = named(this.groups, 'cn', from.groupname);
      return (
        group && {
          groups: extensions.groupsIn(group),
          describe: nested => extensions.describeNested(nested),
        }
      );
    }
    const unlockedOnly = from.kind === 'ofUser' && from.unlockedOnly;
    const user = named(this.#accounts({ unlockedOnly }), 'uid', from.username);
    if (!user) {
      return undefined;
    }
    if (from.kind === 'sponsoredBy') {
      return { groups: extensions.sponsored(user) };
    }
    return {
      groups: extensions.groupsOf(user),
      describe: from.reasons
        ? group => ({ reason: extensions.reason(user, group) })
        : undefined,
    };
  }

  #groupApplies(group: DumpedEntry, where: GroupPredicate): boolean {
    return groupApplies(group, where, kind => {
      const keys =
        kind === 'hasMember'
          ? this.#membership.membersOf(group)
          : this.#membership.sponsorsOf(group);
      return this.users
        .filter(({ key }) => keys.has(key))
        .map(user => user.text('uid')!.toLowerCase());
    });
  }

  #applies(entry: DumpedEntry, where: UserPredicate, viewer: Viewer): boolean {
    return userApplies(entry, where, {
      viewer,
      attributes: this.#attributes,
      groups: () =>
        this.#extensions
          .groupsOf(entry)
          .map(group => group.text('cn')!.toLowerCase()),
    });
  }

  #accounts({
    unlockedOnly,
  }: Pick<UserSelection, 'unlockedOnly'>): readonly DumpedEntry[] {
    return this.users.filter(entry => !unlockedOnly || !isLocked(entry));
  }

  #unlocked(keys: ReadonlySet<string>): readonly DumpedEntry[] {
    return this.users.filter(entry => keys.has(entry.key) && !isLocked(entry));
  }

  #user(entry: DumpedEntry, fields: ReadonlySet<UserField>): User {
    return naiveUser(entry, fields, this.#attributes);
  }
}

/** Returns the sorted names of the agreements that a user has signed. */
function naiveAgreements(
  entries: readonly DumpedEntry[],
  user: DumpedEntry,
): readonly string[] {
  return entries
    .filter(entry => entry.isIn(AGREEMENTS) && entry.isA('fasAgreement'))
    .filter(entry => entry.text('ipaEnabledFlag') === 'TRUE')
    .filter(entry => entry.links('memberUser').includes(user.key))
    .map(entry => entry.text('cn')!)
    .sort(byName);
}

/** Returns the served entries of a container, in the order of lists. */
function served(
  entries: readonly DumpedEntry[],
  container: string,
  { as, by }: { readonly as: string; readonly by: string },
): readonly DumpedEntry[] {
  return entries
    .filter(entry => entry.isIn(container) && entry.isA(as))
    .filter(entry => {
      const name = entry.text(by)!;
      // Group names may contain single spaces.
      return isValidName(by === 'cn' ? name.replace(/ (?=[^ $])/g, '-') : name);
    })
    .sort((a, b) => byName(a.text(by)!, b.text(by)!));
}

/** Returns the entry with a name, ignoring case. */
function named(
  entries: readonly DumpedEntry[],
  attribute: string,
  name: string,
): DumpedEntry | undefined {
  return entries.find(
    entry => entry.text(attribute)!.toLowerCase() === name.toLowerCase(),
  );
}

/** Returns a page as a stream. */
function streamOf({ items, total }: Page<User>): UserStream {
  async function* batches() {
    yield items;
  }
  return { total, batches: batches() };
}

/** Returns whether a name is valid. */
function isValidName(name: string): boolean {
  return name.length <= 256 && /^[a-z0-9_.][a-z0-9_.-]{0,254}[$]?$/i.test(name);
}

/** Compares names in the order of lists. */
export function byName(a: string, b: string): number {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()];
  if (first === second) {
    return a < b ? -1 : 1;
  }
  return first < second ? -1 : 1;
}

/** Returns one page of a list. */
export function pageOf<T>(
  all: readonly T[],
  { number, size }: PageRequest,
): Page<T> {
  const items = all.filter(
    (_, index) => Math.ceil((index + 1) / size) === number,
  );
  return { items, total: all.length };
}

/** Sorts entries by a value; entries without one come last. */
function sorted(
  entries: readonly DumpedEntry[],
  valueOf: (entry: DumpedEntry) => string | number | undefined,
  descending: boolean,
): readonly DumpedEntry[] {
  const valued = entries.map(entry => ({ entry, value: valueOf(entry) }));
  const before = descending ? 1 : -1;
  return [
    ...valued
      .filter(({ value }) => value !== undefined)
      .toSorted((a, b) => {
        if (a.value === b.value) {
          return 0;
        }
        return a.value! < b.value! ? before : -before;
      }),
    ...valued.filter(({ value }) => value === undefined),
  ].map(({ entry }) => entry);
}

function byTier<Predicate>(
  entries: readonly DumpedEntry[],
  tiers: readonly Predicate[],
  applies: (entry: DumpedEntry, tier: Predicate) => boolean,
): readonly DumpedEntry[] {
  return tiers.flatMap((tier, number) =>
    entries.filter(
      entry =>
        applies(entry, tier) &&
        !tiers.slice(0, number).some(earlier => applies(entry, earlier)),
    ),
  );
}
