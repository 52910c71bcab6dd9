import type { KerberosRefusalReason } from '@directory-gateway/kerberos';

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
