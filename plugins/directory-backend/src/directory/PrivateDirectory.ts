import type { Caller } from './Caller';
import type { Directory, DirectoryContext, UsersQuery } from './Directory';
import type { Page } from './Page';
import type { PrincipalSet } from './PrincipalSet';
import { userFieldNames, type UserField } from './schema';
import { emptyUser, type User } from './User';
import type { Visibility } from './Visibility';

/** What private profiles hide, and from whom they hide nothing. */
export interface PrivacyPolicy {
  readonly hidden: ReadonlySet<UserField>;
  readonly trustedReaders: PrincipalSet;
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

  constructor(directory: Directory, policy: PrivacyPolicy) {
    this.#directory = directory;
    this.#policy = policy;
  }

  /** As {@link Directory.getUser}, without what is hidden from the caller. */
  getUser: Opened<'getUser'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const user = await this.#directory.getUser(narrowed, context);
    return user && blank(user, narrowed);
  };

  /** As {@link Directory.listUsers}, without what is hidden. */
  listUsers: Opened<'listUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listUsers(narrowed, context);
    return blankPage(page, narrowed);
  };

  /** As {@link Directory.streamUsers}, without what is hidden. */
  streamUsers: Opened<'streamUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const stream = await this.#directory.streamUsers(narrowed, context);
    return { ...stream, portions: blankAll(stream.portions, narrowed) };
  };

  /** As {@link Directory.searchUsers}, without what is hidden. */
  searchUsers: Opened<'searchUsers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.searchUsers(narrowed, context);
    return blankPage(page, narrowed);
  };

  /** As {@link Directory.listGroupMembers}, without what is hidden. */
  listGroupMembers: Opened<'listGroupMembers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listGroupMembers(narrowed, context);
    return page && blankPage(page, narrowed);
  };

  /** As {@link Directory.listGroupSponsors}, without what is hidden. */
  listGroupSponsors: Opened<'listGroupSponsors'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const users = await this.#directory.listGroupSponsors(narrowed, context);
    return users?.map(user => blank(user, narrowed));
  };

  /** As {@link Directory.streamGroupMembers}, without what is hidden. */
  streamGroupMembers: Opened<'streamGroupMembers'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const stream = await this.#directory.streamGroupMembers(narrowed, context);
    return (
      stream && { ...stream, portions: blankAll(stream.portions, narrowed) }
    );
  };

  /** As {@link Directory.listColleagues}, without what is hidden. */
  listColleagues: Opened<'listColleagues'> = async (query, context) => {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listColleagues(narrowed, context);
    return blankPage(page, narrowed);
  };

  /**
   * Whether a field of somebody's profile is open to a caller; `is_private`
   * must have been asked for.
   */
  isVisible(
    field: UserField,
    query: { readonly user: User; readonly caller: Caller },
  ): boolean {
    const { user, caller } = query;
    const visibleTo = this.#visibleTo(caller);
    return (
      visibleTo.kind === 'everything' ||
      !visibleTo.hidden.has(field) ||
      !user.is_private ||
      user.username === visibleTo.owner
    );
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
}

function blankPage(page: Page<User>, query: UsersQuery): Page<User> {
  return { ...page, items: page.items.map(user => blank(user, query)) };
}

async function* blankAll(
  portions: AsyncIterable<readonly User[]>,
  query: UsersQuery,
): AsyncIterable<readonly User[]> {
  for await (const users of portions) {
    yield users.map(user => blank(user, query));
  }
}

function blank(user: User, { fields, visibleTo }: UsersQuery): User {
  // Without the flag a hidden field was not asked for, and is not shown.
  const isPrivate = fields.has('is_private') ? user.is_private : true;
  if (
    visibleTo.kind === 'everything' ||
    !isPrivate ||
    user.username === visibleTo.owner
  ) {
    return user;
  }
  const shown: Record<UserField, unknown> = emptyUser();
  for (const field of userFieldNames) {
    if (!visibleTo.hidden.has(field)) {
      shown[field] = user[field];
    }
  }
  return shown as User;
}
