import type {
  BackstageCredentials,
  BackstageServicePrincipal,
  BackstageUserPrincipal,
} from '@backstage/backend-plugin-api';
import type { RequestContext } from './Directory';
import type { VerifiedPrincipal } from './Principal';
import type { Config } from '@backstage/config';

/**
 * The authenticated sender of a request.
 *
 * - `kerberos`: a principal with a SPNEGO token or a session cookie
 * - `portalUser`: a signed-in user of the portal; `account` is its directory
 *   user, if `directory.portalUsers` maps it to one
 * - `portalService`: another backend plugin or an external access token,
 *   without a directory identity
 */
export type Caller = {
  /**
   * The client; `ip` is `undefined` when it is not known. Express computes `ip`
   * each time it is read, so only audit events read it.
   */
  readonly client?: { readonly ip?: string };
} & (
  | {
      readonly kind: 'kerberos';
      /** With its realm, for example `alice@EXAMPLE.TEST`. */
      readonly principal: string;
      readonly credential: 'ticket' | 'session';
      readonly account: VerifiedPrincipal;
    }
  | {
      readonly kind: 'portalUser';
      readonly credentials: BackstageCredentials<BackstageUserPrincipal>;
      /**
       * When the portal issued the token; `undefined` for another plugin's
       * request on behalf of the user.
       */
      readonly issuedAt?: Date;
      readonly account?: VerifiedPrincipal;
    }
  | {
      readonly kind: 'portalService';
      readonly credentials: BackstageCredentials<BackstageServicePrincipal>;
      readonly account?: undefined;
    }
);

/** Context of a request that was authenticated. */
export interface CallerContext extends RequestContext {
  readonly caller: Caller;
}

/**
 * The unique name of a caller: a principal with its realm, an entity
 * reference, or a service's subject such as `plugin:catalog`.
 */
export function actorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'kerberos':
      return caller.principal;
    case 'portalUser':
      return caller.credentials.principal.userEntityRef;
    default:
      return caller.credentials.principal.subject;
  }
}

/** The fields of an audit event that describe the caller. */
export function auditFields(caller: Caller): Record<string, string> {
  const account = caller.account?.username ?? caller.account?.service;
  return {
    actor: actorOf(caller),
    credential: credentialOf(caller),
    ...(account !== undefined && { account }),
    address: caller.client?.ip ?? 'unknown',
  };
}

function credentialOf(caller: Caller): string {
  switch (caller.kind) {
    case 'kerberos':
      return caller.credential;
    case 'portalUser':
      return 'portalToken';
    default:
      return 'serviceToken';
  }
}

/** Options of {@link PrincipalSet}: named callers and members of groups. */
export interface PrincipalSetOptions {
  /**
   * User names, or service and host principals without their realm, for
   * example `alice` or `bot/builder.example.test`. `*` matches all callers
   * with a directory identity.
   */
  readonly principals?: readonly string[];
  /** Names of groups; members of nested groups count. */
  readonly groups?: readonly string[];
  /**
   * Portal users without a directory identity, as entity references such as
   * `user:default/alice`. `*` matches all of them.
   */
  readonly portalUsers?: readonly string[];
  /**
   * Services by the subject of their token: `plugin:catalog`, or the `subject`
   * of an external access token.
   */
  readonly services?: readonly string[];
}

/** A configured set of callers. */
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

  /** Returns whether the set contains the caller or one of its groups. */
  has(caller: Caller): boolean {
    if (caller.kind === 'portalService') {
      return this.#services.has(caller.credentials.principal.subject);
    }
    const { account } = caller;
    if (!account) {
      if (caller.kind !== 'portalUser') {
        return false;
      }
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

/** Reads a set of directory principals; empty without configuration. */
export function readPrincipalSet(config: Config | undefined): PrincipalSet {
  return new PrincipalSet({
    principals: config?.getOptionalStringArray('principals'),
    groups: config?.getOptionalStringArray('groups'),
  });
}
