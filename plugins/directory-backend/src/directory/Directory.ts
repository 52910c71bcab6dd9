import type { Caller } from './Caller';
import type { Page, PageRequest } from './Page';
import type { Principal } from './Principal';
import type { UserField } from './schema';
import type { User } from './User';
import type { Visibility } from './Visibility';

/** Whom a question is asked for, and when it is no longer needed. */
export interface DirectoryContext {
  readonly caller: Caller;
  /** Aborted when the caller has gone away. */
  readonly signal: AbortSignal;
}

/** How somebody who calls is looked up. */
export type PrincipalQuery =
  /** A Kerberos principal name with its realm; aliases count. */
  | { readonly principal: string }
  /** A user name, matched as the directory matches `uid`. */
  | { readonly username: string };

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

/**
 * What a directory can answer: the port between the API and its adapters.
 *
 * `undefined` means that the directory has no such entry, or that the API does
 * not serve it. Every method rejects with `DirectoryUnavailableError` or
 * `DirectoryTimeoutError` when the directory cannot be asked: never with an
 * empty or partial answer.
 */
export interface Directory {
  /**
   * The one entry under the accounts container that a caller's name stands
   * for, locked and expired entries included. `undefined` also when the name
   * stands for more than one.
   */
  findPrincipal(
    query: PrincipalQuery,
    context: Pick<DirectoryContext, 'signal'>,
  ): Promise<Principal | undefined>;

  /** One user by name, in the directory's spelling. */
  getUser(
    query: UsersQuery & { readonly username: string },
    context: DirectoryContext,
  ): Promise<User | undefined>;

  /** All served users by name, case-insensitive, one page at a time. */
  listUsers(
    query: UsersQuery & { readonly page: PageRequest },
    context: DirectoryContext,
  ): Promise<Page<User>>;
}
