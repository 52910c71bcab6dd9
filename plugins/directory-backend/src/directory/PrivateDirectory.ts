import type { Caller } from './Caller';
import type { Directory, DirectoryContext, UsersQuery } from './Directory';
import type { Page } from './Page';
import type { PrincipalSet } from './PrincipalSet';
import { userFieldNames, type UserField } from './schema';
import { emptyUser, type User } from './User';
import type { Visibility } from './Visibility';

/** Which fields of a user are hidden from other users. */
export interface PrivacyPolicy {
  /** Hidden in private profiles, except from their owners. */
  readonly hidden: ReadonlySet<UserField>;
  /** Callers from whom private profiles hide nothing. */
  readonly trustedReaders: PrincipalSet;
  /** Hidden in every profile, except from its owner. Default: none. */
  readonly ownOnly?: ReadonlySet<UserField>;
}

const NOTHING: ReadonlySet<UserField> = new Set();

/** The policy for one caller. */
interface HiddenFields {
  readonly inPrivate: ReadonlySet<UserField>;
  readonly inAll: ReadonlySet<UserField>;
  /** The user name of the caller, in whose profile nothing is hidden. */
  readonly owner: string | undefined;
}

/** A question before the privacy policy has its say. */
type Open<Q> = Omit<Q, 'visibleTo'>;

/** The same question, with what the caller may see. */
type Narrowed<Q> = Q & UsersQuery;

/** A method of the port, asked without saying what the caller may see. */
type Opened<Method extends keyof Directory> = (
  query: Open<Parameters<Directory[Method]>[0]>,
  context: DirectoryContext,
) => ReturnType<Directory[Method]>;

/**
 * The privacy policy, as a decorator of a directory: adds what the caller may
 * see to each question about users, asks for the flag that a mask may have
 * left out, and blanks the answer. Nothing above it can reach a hidden field.
 */
export class PrivateDirectory {
  readonly #directory: Directory;
  readonly #policy: PrivacyPolicy;
  readonly #hiddenInPrivate: ReadonlySet<UserField>;

  constructor(directory: Directory, policy: PrivacyPolicy) {
    this.#directory = directory;
    this.#policy = policy;
    this.#hiddenInPrivate = new Set([
      ...policy.hidden,
      ...(policy.ownOnly ?? NOTHING),
    ]);
  }

  /** As {@link Directory.getUser}, without what is hidden from the caller. */
  getUser: Opened<'getUser'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const user = await this.#directory.getUser(narrowed, context);
    return user && this.#redact(user, narrowed, context);
  };

  /** As {@link Directory.listUsers}, without what is hidden. */
  listUsers: Opened<'listUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listUsers(narrowed, context);
    return this.#redactPage(page, narrowed, context);
  };

  /** As {@link Directory.streamUsers}, without what is hidden. */
  streamUsers: Opened<'streamUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const stream = await this.#directory.streamUsers(narrowed, context);
    return {
      ...stream,
      portions: this.#redactAll(stream.portions, narrowed, context),
    };
  };

  /** As {@link Directory.searchUsers}, without what is hidden. */
  searchUsers: Opened<'searchUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.searchUsers(narrowed, context);
    return this.#redactPage(page, narrowed, context);
  };

  /** As {@link Directory.listGroupMembers}, without what is hidden. */
  listGroupMembers: Opened<'listGroupMembers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listGroupMembers(narrowed, context);
    return page && this.#redactPage(page, narrowed, context);
  };

  /** As {@link Directory.listGroupSponsors}, without what is hidden. */
  listGroupSponsors: Opened<'listGroupSponsors'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const users = await this.#directory.listGroupSponsors(narrowed, context);
    return users && this.#redactUsers(users, narrowed, context);
  };

  /** As {@link Directory.streamGroupMembers}, without what is hidden. */
  streamGroupMembers: Opened<'streamGroupMembers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const stream = await this.#directory.streamGroupMembers(narrowed, context);
    return (
      stream && {
        ...stream,
        portions: this.#redactAll(stream.portions, narrowed, context),
      }
    );
  };

  /** As {@link Directory.listColleagues}, without what is hidden. */
  listColleagues: Opened<'listColleagues'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listColleagues(narrowed, context);
    return this.#redactPage(page, narrowed, context);
  };

  /**
   * Whether a caller may see a field of a user, who was read with `is_private`.
   */
  isVisible(
    field: UserField,
    query: { readonly user: User; readonly caller: Caller },
  ): boolean {
    const { user, caller } = query;
    return !hiddenIn(user, this.#hiddenFrom(caller)).has(field);
  }

  /** Whether a caller may see a field of every user. */
  isVisibleOfAll(field: UserField, caller: Caller): boolean {
    const { inPrivate, inAll } = this.#hiddenFrom(caller);
    return !inPrivate.has(field) && !inAll.has(field);
  }

  /** As {@link Directory.listUserMemberships}: membership is never private. */
  listUserMemberships: Opened<'listUserMemberships'> = (query, context) =>
    this.#directory.listUserMemberships(query, context);

  /** As {@link Directory.listSponsoredGroups}. */
  listSponsoredGroups: Opened<'listSponsoredGroups'> = (query, context) =>
    this.#directory.listSponsoredGroups(query, context);

  /** As {@link Directory.listMemberGroups}. */
  listMemberGroups: Opened<'listMemberGroups'> = (query, context) =>
    this.#directory.listMemberGroups(query, context);

  /** As {@link Directory.searchGroups}. */
  searchGroups: Opened<'searchGroups'> = (query, context) =>
    this.#directory.searchGroups(query, context);

  /** As {@link Directory.countGroupMembers}. */
  countGroupMembers: Opened<'countGroupMembers'> = (query, context) =>
    this.#directory.countGroupMembers(query, context);

  /** As {@link Directory.listUserGroups}: membership is never private. */
  listUserGroups: Opened<'listUserGroups'> = (query, context) =>
    this.#directory.listUserGroups(query, context);

  /** As {@link Directory.listUserAgreements}. */
  listUserAgreements: Opened<'listUserAgreements'> = (query, context) =>
    this.#directory.listUserAgreements(query, context);

  /** As {@link Directory.getGroup}. */
  getGroup: Opened<'getGroup'> = (query, context) =>
    this.#directory.getGroup(query, context);

  /** As {@link Directory.listGroups}. */
  listGroups: Opened<'listGroups'> = (query, context) =>
    this.#directory.listGroups(query, context);

  /** As {@link Directory.isMember}. */
  isMember: Opened<'isMember'> = (query, context) =>
    this.#directory.isMember(query, context);

  #narrow<Q extends Open<UsersQuery>>(query: Q, caller: Caller): Narrowed<Q> {
    const { hidden } = this.#policy;
    const touched = [...query.fields].some(field => hidden.has(field));
    return {
      ...query,
      fields: touched
        ? new Set([...query.fields, 'is_private'] as const)
        : query.fields,
      visibleTo: this.#visibleTo(caller),
    };
  }

  /** The part of the policy that narrows what a search may match. */
  #visibleTo(caller: Caller): Visibility {
    if (this.#policy.trustedReaders.has(caller)) {
      return { kind: 'everything' };
    }
    return {
      kind: 'public',
      hidden: this.#policy.hidden,
      owner: caller.account?.username,
    };
  }

  #hiddenFrom(caller: Caller): HiddenFields {
    const { trustedReaders, ownOnly = NOTHING } = this.#policy;
    return {
      inPrivate: trustedReaders.has(caller) ? ownOnly : this.#hiddenInPrivate,
      inAll: ownOnly,
      owner: caller.account?.username,
    };
  }

  #redact(user: User, query: UsersQuery, { caller }: DirectoryContext): User {
    return redact(user, query, this.#hiddenFrom(caller));
  }

  #redactUsers(
    users: readonly User[],
    query: UsersQuery,
    { caller }: DirectoryContext,
  ): readonly User[] {
    const hiddenFields = this.#hiddenFrom(caller);
    return users.map(user => redact(user, query, hiddenFields));
  }

  #redactPage(
    page: Page<User>,
    query: UsersQuery,
    context: DirectoryContext,
  ): Page<User> {
    return { ...page, items: this.#redactUsers(page.items, query, context) };
  }

  async *#redactAll(
    portions: AsyncIterable<readonly User[]>,
    query: UsersQuery,
    context: DirectoryContext,
  ): AsyncIterable<readonly User[]> {
    for await (const users of portions) {
      yield this.#redactUsers(users, query, context);
    }
  }
}

function hiddenIn(
  { username, is_private: isPrivate }: Pick<User, 'username' | 'is_private'>,
  { inPrivate, inAll, owner }: HiddenFields,
): ReadonlySet<UserField> {
  if (username === owner) {
    return NOTHING;
  }
  return isPrivate ? inPrivate : inAll;
}

function redact(
  user: User,
  { fields }: Pick<UsersQuery, 'fields'>,
  hiddenFields: HiddenFields,
): User {
  // A record that was read without the flag counts as private.
  const hidden = hiddenIn(
    fields.has('is_private') ? user : { ...user, is_private: true },
    hiddenFields,
  );
  if (!hasAny(user, hidden)) {
    return user;
  }
  const shown: Record<UserField, unknown> = emptyUser();
  for (const field of userFieldNames) {
    if (!hidden.has(field)) {
      shown[field] = user[field];
    }
  }
  return shown as User;
}

/** Almost always `false`: without an iterator for the empty set. */
function hasAny(user: User, fields: ReadonlySet<UserField>): boolean {
  if (fields.size > 0) {
    for (const field of fields) {
      if (user[field] !== undefined) {
        return true;
      }
    }
  }
  return false;
}
