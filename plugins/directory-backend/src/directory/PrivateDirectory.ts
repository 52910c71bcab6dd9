import type { Caller } from './Caller';
import type { Directory, DirectoryContext, UsersQuery } from './Directory';
import type { Page, PageRequest } from './Page';
import type { PrincipalSet } from './PrincipalSet';
import type { UserField } from './schema';
import type { User } from './User';
import type { Visibility } from './Visibility';

/** A question about users before the privacy policy has its say. */
export type OpenUsersQuery = Omit<UsersQuery, 'visibleTo'>;

/** What private profiles hide, and from whom they hide nothing. */
export interface PrivacyPolicy {
  readonly hidden: ReadonlySet<UserField>;
  readonly trustedReaders: PrincipalSet;
}

/**
 * The privacy policy, as a decorator of a directory: adds what the caller may
 * see to each question, asks for the flag that a mask may have left out, and
 * blanks the answer. Nothing above it can reach a hidden field.
 */
export class PrivateDirectory {
  readonly #directory: Directory;
  readonly #policy: PrivacyPolicy;

  constructor(directory: Directory, policy: PrivacyPolicy) {
    this.#directory = directory;
    this.#policy = policy;
  }

  /** As {@link Directory.getUser}, without what is hidden from the caller. */
  async getUser(
    query: OpenUsersQuery & { readonly username: string },
    context: DirectoryContext,
  ): Promise<User | undefined> {
    const narrowed = this.#narrow(query, context.caller);
    const user = await this.#directory.getUser(narrowed, context);
    return user && blank(user, narrowed.visibleTo);
  }

  /** As {@link Directory.listUsers}, without what is hidden from the caller. */
  async listUsers(
    query: OpenUsersQuery & { readonly page: PageRequest },
    context: DirectoryContext,
  ): Promise<Page<User>> {
    const narrowed = this.#narrow(query, context.caller);
    const page = await this.#directory.listUsers(narrowed, context);
    return {
      ...page,
      items: page.items.map(user => blank(user, narrowed.visibleTo)),
    };
  }

  #narrow<Q extends OpenUsersQuery>(query: Q, caller: Caller): Q & UsersQuery {
    return {
      ...query,
      fields: new Set([...query.fields, 'is_private'] as const),
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

function blank(user: User, visibleTo: Visibility): User {
  if (
    visibleTo.kind === 'everything' ||
    !user.is_private ||
    user.username === visibleTo.owner
  ) {
    return user;
  }
  const visible = Object.entries(user).filter(
    ([field]) => !visibleTo.hidden.has(field as UserField),
  );
  return Object.fromEntries(visible) as User;
}
