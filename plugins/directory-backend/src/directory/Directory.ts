import type { Caller } from './Caller';
import type { Group } from './Group';
import type { GroupSearchTerm } from './GroupSearch';
import type { MemberGroup } from './MemberGroup';
import type { Membership, MembershipKind } from './Membership';
import type { Page, PageRequest } from './Page';
import type { GroupField, UserField } from './schema';
import type { User } from './User';
import type { UserSearchTerm } from './UserSearch';
import type { UserStream } from './UserStream';
import type { Visibility } from './Visibility';

/** Whom a question is asked for, and when it is no longer needed. */
export interface DirectoryContext {
  readonly caller: Caller;
  /** Aborted when the caller has gone away. */
  readonly signal: AbortSignal;
}

/** What every question about users carries. */
export interface UsersQuery {
  /** The fields that the answer needs; `username` always comes along. */
  readonly fields: ReadonlySet<UserField>;
  /**
   * What the caller may see. An adapter must not let a hidden field decide
   * whether somebody else's private entry is found.
   */
  readonly visibleTo: Visibility;
}

/** What every question about groups carries. */
export interface GroupsQuery {
  /** The fields that the answer needs; `groupname` always comes along. */
  readonly fields: ReadonlySet<GroupField>;
}

/** Which part of a list a question is about. */
export interface Paged {
  readonly page: PageRequest;
}

/** Whose accounts a question is about. */
export interface OfAccounts {
  /** Locked accounts are as if they were not there. Default: they are. */
  readonly unlockedOnly?: boolean;
}

/** A question about one user. */
export interface OfUser {
  readonly username: string;
}

/** A question about one group. */
export interface OfGroup {
  readonly groupname: string;
}

/** So many people are looked at to find somebody's colleagues. */
export const MAX_COLLEAGUES = 200;

/** Which members of a group a question is about; without a word, all. */
export interface MemberSelection {
  readonly membership?: MembershipKind;
  /** As in {@link Directory.searchUsers}: hidden fields do not match. */
  readonly terms?: readonly UserSearchTerm[];
}

/**
 * What a directory can answer: the port between the API and its adapters.
 *
 * `undefined` means that the directory has no such entry, or that the API does
 * not serve it. Every method rejects with `DirectoryUnavailableError` or
 * `DirectoryTimeoutError` when the directory cannot be asked: never with an
 * empty or partial answer.
 */
export interface Directory {
  /** One user by name, in the directory's spelling. */
  getUser(
    query: UsersQuery & OfAccounts & OfUser,
    context: DirectoryContext,
  ): Promise<User | undefined>;

  /** All served users by name, case-insensitive, one page at a time. */
  listUsers(
    query: UsersQuery & OfAccounts & Paged,
    context: DirectoryContext,
  ): Promise<Page<User>>;

  /** All of {@link listUsers}, with flat memory. */
  streamUsers(
    query: UsersQuery & OfAccounts,
    context: DirectoryContext,
  ): Promise<UserStream>;

  /**
   * The served users to whom every term applies, by name. A term on a field
   * that is hidden from the caller does not apply to somebody else's private
   * profile.
   */
  searchUsers(
    query: UsersQuery &
      OfAccounts &
      Paged & { readonly terms: readonly UserSearchTerm[] },
    context: DirectoryContext,
  ): Promise<Page<User>>;

  /**
   * The served groups that a user is in, directly or through other groups, by
   * name; `undefined` when there is no such user.
   */
  listUserGroups(
    query: GroupsQuery & OfAccounts & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group> | undefined>;

  /**
   * Names of the enabled agreements that a user has signed; `undefined` when
   * there is no such user.
   */
  listUserAgreements(
    query: OfAccounts & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<string> | undefined>;

  /** One group by name, in the directory's spelling. */
  getGroup(
    query: GroupsQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<Group | undefined>;

  /** All served groups by name, case-insensitive, one page at a time. */
  listGroups(
    query: GroupsQuery & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group>>;

  /**
   * The served users in a group, directly or through other groups, by name,
   * without locked accounts; `undefined` when there is no such group.
   */
  listGroupMembers(
    query: UsersQuery & OfGroup & Paged & MemberSelection,
    context: DirectoryContext,
  ): Promise<Page<User> | undefined>;

  /** All of {@link listGroupMembers}, with flat memory. */
  streamGroupMembers(
    query: UsersQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<UserStream | undefined>;

  /**
   * The served users who manage a group's members, in person or through a
   * group that does, by name, without locked accounts; `undefined` when there
   * is no such group.
   */
  listGroupSponsors(
    query: UsersQuery & OfGroup,
    context: DirectoryContext,
  ): Promise<readonly User[] | undefined>;

  /**
   * Whether a served user whose account is not locked is in a group, directly
   * or through other groups; `undefined` when there is no such group.
   */
  isMember(
    query: OfUser & OfGroup,
    context: DirectoryContext,
  ): Promise<boolean | undefined>;

  /**
   * As {@link listUserGroups}, with the reason of each membership;
   * `undefined` when there is no such user.
   */
  listUserMemberships(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Membership> | undefined>;

  /**
   * The served groups whose members a user manages, in person or through a
   * group that does, by name; `undefined` when there is no such user.
   */
  listSponsoredGroups(
    query: GroupsQuery & OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<Group> | undefined>;

  /**
   * The served groups that are members of a group, or of groups in it that are
   * not served, by name and without the group itself; `undefined` when there
   * is no such group.
   */
  listMemberGroups(
    query: GroupsQuery & OfGroup & Paged,
    context: DirectoryContext,
  ): Promise<Page<MemberGroup> | undefined>;

  /** The served groups to which every term applies, by name. */
  searchGroups(
    query: GroupsQuery & Paged & { readonly terms: readonly GroupSearchTerm[] },
    context: DirectoryContext,
  ): Promise<Page<Group>>;

  /**
   * How many users {@link listGroupMembers} lists for each of these groups, by
   * the names as they are given; 0 for a group that is not served.
   */
  countGroupMembers(
    query: { readonly groupnames: readonly string[] },
    context: DirectoryContext,
  ): Promise<ReadonlyMap<string, number>>;

  /**
   * Served users who share a served group with the entry of this DN, without
   * itself and without locked accounts. The groups are taken by the number of
   * their members, then by name, and a group with which they would be more
   * than {@link MAX_COLLEAGUES} is left out.
   *
   * Ordered by creation, the latest first. Without a creation, or where it is
   * hidden, they come last, by name.
   */
  listColleagues(
    query: UsersQuery & Paged & { readonly dn: string },
    context: DirectoryContext,
  ): Promise<Page<User>>;
}
