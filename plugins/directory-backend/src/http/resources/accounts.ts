import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Accounts } from '../../directory/Accounts';
import type { Caller } from '../../directory/Caller';
import { hasExpired } from '../../directory/Principal';
import type { Operation } from '../api/Operation';
import { ForbiddenError, ResourceNotFoundError } from '../response/apiErrors';

/**
 * Looks up the account of a Kerberos principal for plugins of the portal, which
 * sign users in.
 */
export function accountOperation(options: {
  readonly accounts: Pick<Accounts, 'findForSignIn'>;
}): Operation {
  return {
    id: 'get_account',
    method: 'get',
    path: '/accounts/:principal/',
    permission: directoryReadPermission,
    async handle({ caller, params: { principal } }) {
      if (!isPlugin(caller)) {
        throw new ForbiddenError({
          message: 'Only plugins of the portal may look up accounts.',
        });
      }
      const account = await options.accounts.findForSignIn({ principal });
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

/** An external access token has the subject that its configuration states. */
function isPlugin(caller: Caller): boolean {
  return (
    caller.kind === 'portalService' &&
    caller.credentials.principal.subject.startsWith('plugin:')
  );
}
