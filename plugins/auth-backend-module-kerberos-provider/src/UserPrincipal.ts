import type { KerberosRefusalReason } from '@directory-gateway/kerberos';

const messages: Readonly<Record<AccountRefusalReason, string>> = {
  service_principal: 'Services and hosts cannot sign in.',
  unusable_name: 'This name is not valid for a user of the portal.',
  unknown_principal:
    'The ticket is valid, but the portal does not have this user.',
  account_locked: 'This account is locked.',
  account_expired: 'This account has expired.',
};

/**
 * Reason for which the client of a valid ticket is refused.
 *
 * - `service_principal`: a service, a host or an administrative instance
 *   (`HTTP/localhost`, `alice/admin`)
 * - `unusable_name`: the name is not a valid entity name in Backstage
 * - `unknown_principal`: not a user of the portal
 * - `account_locked`: locked in the directory
 * - `account_expired`: expired in the directory
 *
 * @public
 */
export type AccountRefusalReason =
  | 'service_principal'
  | 'unusable_name'
  | 'unknown_principal'
  | 'account_locked'
  | 'account_expired';

/**
 * The `reason` in the body of a 401.
 *
 * @public
 */
export type SignInRefusalReason = KerberosRefusalReason | AccountRefusalReason;

/** Thrown when the client of a valid ticket is refused. */
export class SignInRefusal extends Error {
  readonly reason: AccountRefusalReason;

  constructor(reason: AccountRefusalReason) {
    super(messages[reason]);
    this.name = 'SignInRefusal';
    this.reason = reason;
  }
}

/** A user's principal. */
export interface UserPrincipal {
  /** `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** `alice`. */
  readonly name: string;
  /** `EXAMPLE.TEST`. */
  readonly realm: string;
}

/** A single component and a realm (RFC 1964 §2.1.1), without escapes. */
const USER = /^(?<name>[^\\/@]+)@(?<realm>[^\\/@]+)$/;

/**
 * Parses a user's principal. Names with several components belong to services,
 * hosts and administrative instances (RFC 4120 §6.2), which cannot sign in.
 *
 * @throws SignInRefusal with `service_principal` or `unusable_name`
 */
export function parsePrincipal(principal: string): UserPrincipal {
  const groups = USER.exec(principal)?.groups;
  if (!groups) {
    // An escaped slash is part of a name, not a separator.
    const isService = principal.replace(/\\./g, '').includes('/');
    throw new SignInRefusal(isService ? 'service_principal' : 'unusable_name');
  }
  return { principal, name: groups.name, realm: groups.realm };
}
