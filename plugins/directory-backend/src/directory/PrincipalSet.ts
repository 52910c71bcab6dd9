import type { Config } from '@backstage/config';
import type { Caller } from './Caller';

/** A configured set of callers: named principals, and members of groups. */
export interface PrincipalSetOptions {
  /**
   * User names, or service and host principals without their realm, for
   * example `alice` or `bot/builder.example.test`. `*` stands for everyone
   * with a directory identity.
   */
  readonly principals?: readonly string[];
  /** Names of groups; members of nested groups count. */
  readonly groups?: readonly string[];
  /**
   * Portal users without a directory identity, as entity references such as
   * `user:default/alice`. `*` stands for all of them.
   */
  readonly portalUsers?: readonly string[];
  /**
   * Services by the subject of their token: `plugin:catalog`, or the `subject`
   * of an external access token.
   */
  readonly services?: readonly string[];
}

/** Tells whether a caller belongs to a configured set of callers. */
export class PrincipalSet {
  readonly #principals: ReadonlySet<string>;
  readonly #groups: readonly string[];
  readonly #portalUsers: ReadonlySet<string>;
  readonly #services: ReadonlySet<string>;

  constructor(options: PrincipalSetOptions) {
    this.#principals = new Set(
      (options.principals ?? []).map(name => name.toLowerCase()),
    );
    this.#groups = (options.groups ?? []).map(name => name.toLowerCase());
    this.#portalUsers = new Set(
      (options.portalUsers ?? []).map(ref => ref.toLowerCase()),
    );
    this.#services = new Set(options.services);
  }

  /** Whether the caller is named, by itself or by a group. */
  has(caller: Caller): boolean {
    if (caller.kind === 'portalService') {
      return this.#services.has(caller.credentials.principal.subject);
    }
    const { account } = caller;
    if (!account) {
      const { userEntityRef } = caller.credentials.principal;
      return (
        this.#portalUsers.has('*') ||
        this.#portalUsers.has(userEntityRef.toLowerCase())
      );
    }
    const name = (account.username ?? account.service)?.toLowerCase();
    return (
      this.#principals.has('*') ||
      (name !== undefined && this.#principals.has(name)) ||
      this.#groups.some(group => account.groups.has(group))
    );
  }
}

/** Reads a set of directory principals; without a block it is empty. */
export function readPrincipalSet(config: Config | undefined): PrincipalSet {
  return new PrincipalSet({
    principals: config?.getOptionalStringArray('principals'),
    groups: config?.getOptionalStringArray('groups'),
  });
}
