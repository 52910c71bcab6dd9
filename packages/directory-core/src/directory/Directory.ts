import type { Group, User } from './records';
import type { Page, PageRequest } from './Page';
import type { GroupPredicate, UserPredicate } from './predicates';
import type { GroupField, UserField } from './schema';

/** Context of one request. */
export interface RequestContext {
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Default: every served entry is visible. */
  readonly visible?: Visibility;
}

/**
 * Entries that the portal's permission policy lets a caller read. Other entries
 * are treated as not served, in results, lists, counts and conditions.
 */
export interface Visibility {
  /** Default: all users. */
  readonly users?: UserPredicate;
  /** Default: all groups. */
  readonly groups?: GroupPredicate;
}

/** A query for a part of a list. */
export interface Paged {
  readonly page: PageRequest;
}

/** One user by name. */
export interface UserQuery {
  readonly username: string;
  /** Returned fields; `username` is always returned. */
  readonly fields: ReadonlySet<UserField>;
  /** Whether locked accounts are excluded. Default: no. */
  readonly unlockedOnly?: boolean;
}

/** One group by name. */
export interface GroupQuery {
  readonly groupname: string;
  /** Returned fields; `groupname` is always returned. */
  readonly fields: ReadonlySet<GroupField>;
}

/** Kind of membership in a group. */
export type MembershipKind =
  /** The group's entry lists the user. */
  | 'direct'
  /** The user is a member of nested groups only. */
  | 'indirect'
  /** The user is in the group but locked, and therefore not a member. */
  | 'locked';

/** Maximum number of a user's colleagues. */
export const MAX_COLLEAGUES = 200;

/** List that users are selected from. */
export type UserSource =
  /** All served users. */
  | { readonly kind: 'all' }
  /** Served, unlocked users in a group, directly or through other groups. */
  | {
      readonly kind: 'membersOf';
      readonly groupname: string;
      /** Default: `direct` and `indirect`. */
      readonly membership?: MembershipKind;
    }
  /** Served, unlocked users who sponsor a group, or are in a group that does. */
  | { readonly kind: 'sponsorsOf'; readonly groupname: string }
  /**
   * Other served, unlocked users in the served groups of an entry. Groups are
   * added in the order of member count and name; a group that would make the
   * list exceed {@link MAX_COLLEAGUES} is skipped.
   */
  | { readonly kind: 'colleaguesOf'; readonly dn: string };

/**
 * Only entries that match one of the predicates, in the order of the first
 * predicate that they match.
 */
export interface ByTier<Predicate> {
  readonly kind: 'byTier';
  readonly tiers: readonly Predicate[];
}

/** A list of users. */
export interface UserSelection {
  readonly from: UserSource;
  /**
   * Default: all users of the list. The privacy policy is combined with each
   * condition on a hidden field: applied to the whole selection, it would
   * remove private users from lists.
   */
  readonly where?: UserPredicate;
  /** Whether locked accounts are excluded from `all`. Default: no. */
  readonly unlockedOnly?: boolean;
  /** Default: by name, case-insensitive. */
  readonly order?:
    | {
        /** By `creation`; users without one come last, by name. */
        readonly kind: 'newestFirst';
        /** Users that do not match come last. Default: all users match. */
        readonly where?: UserPredicate;
      }
    | {
        /** By a value, then by name; users without a value come last. */
        readonly kind: 'byValue';
        /** Field that `valueOf` reads, in addition to `username`. */
        readonly field: UserField;
        readonly valueOf: (user: User) => string | number | undefined;
        readonly descending: boolean;
        /** Users that do not match come last. Default: all users match. */
        readonly where?: UserPredicate;
      }
    | ByTier<UserPredicate>;
  /** Returned fields; `username` is always returned. */
  readonly fields: ReadonlySet<UserField>;
}

/** Users to stream: batches are read on demand while the response is sent. */
export interface UserStream {
  /** Number of users when the stream begins. */
  readonly total: number;
  /**
   * All users in order, in batches that are read on demand. Rejects when not
   * all users can be returned.
   */
  readonly batches: AsyncIterable<readonly User[]>;
}

/** List that groups are selected from. */
export type GroupSource =
  /** All served groups. */
  | { readonly kind: 'all' }
  /** Served groups that a user is in, directly or through other groups. */
  | {
      readonly kind: 'ofUser';
      readonly username: string;
      readonly unlockedOnly?: boolean;
      /** Whether to return `ListedGroup.reason`. Default: no. */
      readonly reasons?: boolean;
    }
  /** Served groups that a user, or a group of the user, sponsors. */
  | { readonly kind: 'sponsoredBy'; readonly username: string }
  /**
   * Served groups that are members of a group, or of groups in it that are not
   * served; excludes the group itself.
   */
  | { readonly kind: 'nestedIn'; readonly groupname: string };

/** A list of groups. */
export interface GroupSelection {
  readonly from: GroupSource;
  /** Default: all groups of the list. */
  readonly where?: GroupPredicate;
  /** Default: by name, case-insensitive. */
  readonly order?:
    | ByTier<GroupPredicate>
    | {
        /** `bySize`: by the number of members, then by name. */
        readonly kind: 'byName' | 'bySize';
        readonly descending: boolean;
      };
  /** Returned fields; `groupname` is always returned. */
  readonly fields: ReadonlySet<GroupField>;
}

/** Why a user is in a group. */
export interface MembershipReason {
  /** Whether the group's entry lists the user. */
  readonly direct: boolean;
  /** Whether the user sponsors the group, directly or through a group. */
  readonly sponsor: boolean;
  /**
   * Names of the groups in a shortest chain of nested groups, from a group
   * whose entry lists the user to this group. `undefined` stands for a group
   * that is not served. Of several shortest chains, it is the first by DN.
   */
  readonly path: readonly (string | undefined)[];
}

/** A group of a list. */
export interface ListedGroup {
  readonly group: Group;
  /** In a list `ofUser` with `reasons`. */
  readonly reason?: MembershipReason;
  /** In a list `nestedIn`: whether it contains served groups itself. */
  readonly hasMemberGroups?: boolean;
}

/**
 * Port for queries about users and groups.
 *
 * A result is `undefined` when the user or group in a query or a source does
 * not exist or is not served; never for the source `all` or `colleaguesOf`.
 * Every method rejects with `DirectoryUnavailableError` or
 * `DirectoryTimeoutError` when the directory is unavailable, instead of
 * returning an empty or partial result.
 */
export interface Directory {
  /** A user by name, case-insensitive. */
  getUser(query: UserQuery, context: RequestContext): Promise<User | undefined>;

  /** A group by name, case-insensitive. */
  getGroup(
    query: GroupQuery,
    context: RequestContext,
  ): Promise<Group | undefined>;

  /** One page of a list of users. */
  listUsers(
    selection: UserSelection & Paged,
    context: RequestContext,
  ): Promise<Page<User> | undefined>;

  /** All users of a list, with constant memory. */
  streamUsers(
    selection: UserSelection,
    context: RequestContext,
  ): Promise<UserStream | undefined>;

  /** One page of a list of groups. */
  listGroups(
    selection: GroupSelection & Paged,
    context: RequestContext,
  ): Promise<Page<ListedGroup> | undefined>;

  /**
   * Whether an unlocked user is in a group, directly or through other groups;
   * `undefined` when there is no such group.
   */
  isMember(
    query: { readonly username: string; readonly groupname: string },
    context: RequestContext,
  ): Promise<boolean | undefined>;

  /** Number of users in the list `membersOf` of groups, by the given names. */
  countMembers(
    query: { readonly groupnames: readonly string[] },
    context: RequestContext,
  ): Promise<ReadonlyMap<string, number>>;

  /**
   * Why users, including locked ones, are in a group, keyed by the given names.
   * Omits users who are not in the group.
   */
  membershipReasons(
    query: {
      readonly groupname: string;
      readonly usernames: readonly string[];
    },
    context: RequestContext,
  ): Promise<ReadonlyMap<string, MembershipReason>>;

  /** Names of the enabled agreements that a user has signed. */
  listAgreements(
    query: {
      readonly username: string;
      readonly unlockedOnly?: boolean;
    } & Paged,
    context: RequestContext,
  ): Promise<Page<string> | undefined>;
}

/** Tests of the visibility of single entries, for permission rules. */
export interface VisibilityTests {
  /**
   * Looks up users or groups by name. Each returned function tests whether a
   * visibility includes the entry; it is `undefined` if the entry does not
   * exist.
   */
  testsOf(
    kind: 'users' | 'groups',
    names: readonly string[],
  ): Promise<readonly (((visible: Visibility) => boolean) | undefined)[]>;
}
