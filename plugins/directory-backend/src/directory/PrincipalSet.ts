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
}

/** Tells whether a caller belongs to a configured set of callers. */
export class PrincipalSet {
  readonly #principals: ReadonlySet<string>;
  readonly #groups: readonly string[];

  constructor(options: PrincipalSetOptions) {
    this.#principals = new Set(
      (options.principals ?? []).map(name => name.toLowerCase()),
    );
    this.#groups = (options.groups ?? []).map(name => name.toLowerCase());
  }

  /** A caller without a directory identity belongs to no set. */
  has(caller: Caller): boolean {
    const account = caller.account;
    if (!account) {
      return false;
    }
    const name = (account.username ?? account.service)?.toLowerCase();
    return (
      this.#principals.has('*') ||
      (name !== undefined && this.#principals.has(name)) ||
      this.#groups.some(group => account.groups.has(group))
    );
  }
}

/** Reads a set of callers; without a block it is empty. */
export function readPrincipalSet(config: Config | undefined): PrincipalSet {
  return new PrincipalSet({
    principals: config?.getOptionalStringArray('principals'),
    groups: config?.getOptionalStringArray('groups'),
  });
}
