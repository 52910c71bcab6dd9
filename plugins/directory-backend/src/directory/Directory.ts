import type { Group, User } from './records';
import type { Page, PageRequest } from './Page';
import type { GroupPredicate, UserPredicate } from './predicates';
import type { GroupField, UserField } from './schema';

/** Context of one request. */
export interface RequestContext {
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Which part of a list is requested. */
export interface Paged {
  readonly page: PageRequest;
}

/** One user by name. */
export interface UserQuery {
  readonly username: string;
  /** Returned fields; `username` is always returned. */
  readonly fields: ReadonlySet<UserField>;
  /** Whether locked accounts are not found. Default: they are. */
  readonly unlockedOnly?: boolean;
}

/** One group by name. */
export interface GroupQuery {
  readonly groupname: string;
  /** Returned fields; `groupname` is always returned. */
  readonly fields: ReadonlySet<GroupField>;
}

/** How a user is in a group. */
export type MembershipKind =
  /** The group itself names the user. */
  | 'direct'
  /** The user is in through nested groups only. */
  | 'indirect';

/** Maximum number of users that are considered as somebody's colleagues. */
export const MAX_COLLEAGUES = 200;

/** The list that users are selected from. */
export type UserSource =
  /** All served users. */
  | { readonly kind: 'all' }
  /** Served, unlocked users in a group, directly or through other groups. */
  | {
      readonly kind: 'membersOf';
      readonly groupname: string;
      /** Default: both. */
      readonly membership?: MembershipKind;
    }
  /**
   * Served, unlocked users who manage a group's members, in person or through a
   * group.
   */
  | { readonly kind: 'sponsorsOf'; readonly groupname: string }
  /**
   * Served, unlocked users who share a served group with an entry, without
   * itself. Groups are taken by their number of members, then by name; a group
   * with which they would be more than {@link MAX_COLLEAGUES} is left out.
   */
  | { readonly kind: 'colleaguesOf'; readonly dn: string };

/** Which users, in which order, with which fields. */
export interface UserSelection {
  readonly from: UserSource;
  /**
   * Which of them. Default: all. A condition on a hidden field is combined with
   * the privacy policy one by one: added to the whole selection, the policy
   * would remove private users from lists.
   */
  readonly where?: UserPredicate;
  /** Whether locked accounts are left out of `all`. Default: they are not. */
  readonly unlockedOnly?: boolean;
  /** Default: by name, case-insensitive. */
  readonly order?: {
    /** By `creation`; users without one come last, by name. */
    readonly kind: 'newestFirst';
    /** Other users come last, as those without a `creation`. Default: none. */
    readonly where?: UserPredicate;
  };
  /** Returned fields; `username` is always returned. */
  readonly fields: ReadonlySet<UserField>;
}

/** Users that are read while they are sent. */
export interface UserStream {
  /** Number of users when the stream begins. */
  readonly total: number;
  /**
   * All users in order, in batches that are read when they are requested.
   * Rejects when not all of them can be returned.
   */
  readonly batches: AsyncIterable<readonly User[]>;
}

/** The list that groups are selected from. */
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
  /** Served groups whose members a user manages, in person or through a group. */
  | { readonly kind: 'sponsoredBy'; readonly username: string }
  /**
   * Served groups that are members of a group, or of groups in it that are not
   * served; without the group itself.
   */
  | { readonly kind: 'nestedIn'; readonly groupname: string };

/** Which groups, with which fields. Lists are by name, case-insensitive. */
export interface GroupSelection {
  readonly from: GroupSource;
  /** Which of them. Default: all. */
  readonly where?: GroupPredicate;
  /** Returned fields; `groupname` is always returned. */
  readonly fields: ReadonlySet<GroupField>;
}

/** Why a user is in a group. */
export interface MembershipReason {
  /** Whether the group itself names the user. */
  readonly direct: boolean;
  /** Whether the user manages its members, in person or through a group. */
  readonly sponsor: boolean;
  /**
   * Names of a shortest chain of groups, each in the next: the first names the
   * user, the last is this group. `undefined` stands for a group that is not
   * served. Of several chains it is the first by the groups' DNs.
   */
  readonly path: readonly (string | undefined)[];
}

/** A group of a list. */
export interface ListedGroup {
  readonly group: Group;
  /** In a list `ofUser` with `reasons`. */
  readonly reason?: MembershipReason;
  /** In a list `nestedIn`: whether served groups are nested in it in turn. */
  readonly hasMemberGroups?: boolean;
}

/**
 * Port of the queries about users and groups.
 *
 * The result `undefined` means that the user or group that a query or a source
 * names does not exist or is not served; it is never the result of the source
 * `all` or `colleaguesOf`. Every method rejects with
 * `DirectoryUnavailableError` or `DirectoryTimeoutError` when the directory is
 * unavailable: results are never empty or partial instead.
 */
export interface Directory {
  /** A user by name, case-insensitive. */
  getUser(query: UserQuery, context: RequestContext): Promise<User | undefined>;

  /** A group by name, case-insensitive. */
  getGroup(
    query: GroupQuery,
    context: RequestContext,
  ): Promise<Group | undefined>;

  /** A page of users. */
  listUsers(
    selection: UserSelection & Paged,
    context: RequestContext,
  ): Promise<Page<User> | undefined>;

  /** All users of a selection, with constant memory. */
  streamUsers(
    selection: UserSelection,
    context: RequestContext,
  ): Promise<UserStream | undefined>;

  /** A page of groups. */
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

  /** Number of users that a list `membersOf` has, by the names as given. */
  countMembers(
    query: { readonly groupnames: readonly string[] },
    context: RequestContext,
  ): Promise<ReadonlyMap<string, number>>;

  /** Names of the enabled agreements that a user has signed. */
  listAgreements(
    query: {
      readonly username: string;
      readonly unlockedOnly?: boolean;
    } & Paged,
    context: RequestContext,
  ): Promise<Page<string> | undefined>;
}
