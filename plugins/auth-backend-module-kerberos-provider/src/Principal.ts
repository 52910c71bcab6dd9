import type { KerberosRefusalReason } from '@directory-gateway/kerberos';

const messages: Readonly<Record<AccountRefusalReason, string>> = {
  service_principal: 'Only people sign in here, services and hosts do not.',
  unusable_name: 'This name cannot be the name of a user of the portal.',
  unknown_principal: 'The ticket is good, but the portal does not know you.',
  account_locked: 'This account is locked.',
  account_expired: 'This account has expired.',
};

/** Thrown by what decides who a ticket's holder is. */
export class SignInRefusal extends Error {
  readonly reason: AccountRefusalReason;

  constructor(reason: AccountRefusalReason) {
    super(messages[reason]);
    this.name = 'SignInRefusal';
    this.reason = reason;
  }
}

/** A person's principal: `alice` of `EXAMPLE.TEST`. */
export interface Principal {
  /** `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** `alice`. */
  readonly name: string;
  /** `EXAMPLE.TEST`. */
  readonly realm: string;
}

/** One component and a realm (RFC 1964 §2.1.1), with nothing escaped. */
const PERSON = /^(?<name>[^\\/@]+)@(?<realm>[^\\/@]+)$/;

/**
 * Reads a person's principal. Names of several components belong to services,
 * hosts and administrative instances (RFC 4120 §6.2), who do not sign in.
 *
 * @throws SignInRefusal with `service_principal` or `unusable_name`
 */
export function parsePrincipal(principal: string): Principal {
  const groups = PERSON.exec(principal)?.groups;
  if (!groups) {
    throw new SignInRefusal(
      // An escaped slash is part of a name, not a separator.
      principal.replace(/\\./g, '').includes('/')
        ? 'service_principal'
        : 'unusable_name',
    );
  }
  return { principal, name: groups.name, realm: groups.realm };
}

/**
 * Why somebody with a good ticket is not let in.
 *
 * - `service_principal`: a service, a host or an administrative instance
 *   (`HTTP/localhost`, `alice/admin`), never a person
 * - `unusable_name`: the name cannot be an entity's name in Backstage, and is
 *   not changed into one
 * - `unknown_principal`: nobody of the portal
 * - `account_locked`: locked in the directory
 * - `account_expired`: expired in the directory
 */
export type AccountRefusalReason =
  | 'service_principal'
  | 'unusable_name'
  | 'unknown_principal'
  | 'account_locked'
  | 'account_expired';

/**
 * The `reason` in the body of a 401: what the ticket alone tells, or what
 * became of its holder.
 *
 * @public
 */
export type SignInRefusalReason = KerberosRefusalReason | AccountRefusalReason;
