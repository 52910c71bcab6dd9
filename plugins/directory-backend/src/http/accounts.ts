import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { CachedPrincipals } from '../directory/CachedPrincipals';
import { hasExpired } from '../directory/Principal';
import type { Operation } from './Call';
import { ForbiddenError, ResourceNotFoundError } from './response/apiErrors';

/**
 * Looks up the account of a Kerberos principal in LDAP, at most 4 seconds
 * cached: for services of the portal, which sign users in.
 */
export function accountOperation(options: {
  readonly principals: CachedPrincipals;
}): Operation {
  return {
    id: 'get_account',
    method: 'get',
    path: '/accounts/:principal/',
    permission: directoryReadPermission,
    async handle({ caller, params: { principal } }) {
      if (caller.kind !== 'portalService') {
        throw new ForbiddenError({
          message: 'Only services of the portal may look up accounts.',
        });
      }
      const account = await options.principals.find({ principal });
      if (!account?.served) {
        throw new ResourceNotFoundError({
          message: 'Account not found',
          principal,
        });
      }
      return {
        result: {
          username: account.username,
          locked: account.locked,
          expired: hasExpired(account),
        },
      };
    },
  };
}
