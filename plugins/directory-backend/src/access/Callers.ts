import type {
  AuthService,
  BackstageCredentials,
} from '@backstage/backend-plugin-api';
import { NotAllowedError } from '@backstage/errors';
import {
  type Accounts,
  type Caller,
  isExpired,
  type VerifiedPrincipal,
} from '@directory-gateway/directory-core';
import { UnauthorizedError } from '../apiErrors';
import type { PortalUserNames } from '../portalUsers/PortalUserNames';

/** Options of {@link Callers}. */
interface CallersOptions {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly auth: AuthService;
  readonly portalUserNames: PortalUserNames;
}

/** Finds the directory account behind verified credentials. */
export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /**
   * Returns the caller with a Kerberos principal.
   *
   * @throws UnauthorizedError when the account is not active
   */
  async withPrincipal(
    principal: string,
    request: Pick<
      Extract<Caller, { kind: 'kerberos' }>,
      'credential' | 'client'
    >,
  ): Promise<Caller> {
    const account = await this.#options.accounts.find({ principal });
    return {
      kind: 'kerberos',
      principal,
      credential: request.credential,
      account: requireActive(account),
      client: request.client,
    };
  }

  /**
   * Returns the caller with Backstage credentials.
   *
   * @throws UnauthorizedError when the mapped directory account is not active
   * @throws AmbiguousPortalUserError when several portal users are mapped to
   *   the account
   * @throws NotAllowedError for credentials of neither a user nor a service
   */
  async withCredentials(
    credentials: BackstageCredentials,
    client: Caller['client'],
  ): Promise<Caller> {
    const { accounts, auth, portalUserNames } = this.#options;
    if (auth.isPrincipal(credentials, 'service')) {
      return { kind: 'portalService', credentials, client };
    }
    if (!auth.isPrincipal(credentials, 'user')) {
      throw new NotAllowedError(
        'The credentials belong to neither a user nor a service.',
      );
    }
    const username = await portalUserNames.usernameOf(credentials.principal);
    if (username === undefined) {
      return { kind: 'portalUser', credentials, client };
    }
    const account = requireActive(await accounts.find({ username }));
    return { kind: 'portalUser', credentials, account, client };
  }
}

/** Rejects accounts that do not exist, are locked or have expired. */
function requireActive(
  account: VerifiedPrincipal | undefined,
): VerifiedPrincipal {
  if (!account) {
    throw new UnauthorizedError('unknown_principal');
  }
  if (account.locked) {
    throw new UnauthorizedError('account_locked');
  }
  if (isExpired(account)) {
    throw new UnauthorizedError('account_expired');
  }
  return account;
}
