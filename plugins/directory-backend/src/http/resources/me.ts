import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { type Operation, requireAccount } from '../api/Operation';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import type { Dialect } from '../api/Dialect';
import type { CertificatesConfig } from '../../certificates/CertificatesConfig';
import {
  isPortalTokenMissing,
  mayRequestCertificates,
} from '../../certificates/signingRules';
import type { AccessControl } from '../access/AccessControl';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import { parseParameters } from '../request/ParameterErrors';
import { parseSearchPage } from '../request/parsePage';
import {
  envelopePage,
  mapPage,
  presentUser,
  userFieldsFor,
  userModel,
} from '../response/presentRecords';
import type { ResourceUris } from '../response/ResourceUris';
import type { Accounts } from '../../directory/Accounts';
import type { Caller } from '../../directory/Caller';
import { isExpired } from '../../directory/Principal';
import { ForbiddenError, ResourceNotFoundError } from '../response/apiErrors';

const meModel: RecordModel = {
  keys: ['dn', 'username', 'service', 'uri'],
  lists: new Set(),
};

/** The authenticated principal (contract, section 2.2). */
export function meOperation(options: { readonly dialect: Dialect }): Operation {
  const { dialect } = options;
  return {
    id: 'whoami',
    method: 'get',
    path: '/me/',
    permission: directoryReadPermission,
    async handle({ caller, fieldMask }) {
      const keys = resolveFields(fieldMask, meModel);
      const me = dialect.presentMe(requireAccount(caller));
      return { result: Object.fromEntries(keys.map(key => [key, me[key]])) };
    },
  };
}

/**
 * An extension: what the caller may do, so that pages offer nothing that the
 * API would refuse.
 */
export function operationsOperation(options: {
  readonly access: Pick<AccessControl, 'operationsOf'>;
  /** `undefined`: the gateway has nothing to do with certificates. */
  readonly certificates: CertificatesConfig | undefined;
}): Operation {
  const { access, certificates } = options;
  return {
    id: 'get_operations',
    method: 'get',
    path: '/me/operations/',
    permission: directoryReadPermission,
    async handle({ caller }) {
      const allowed = await access.operationsOf(caller);
      const mayRequest =
        certificates !== undefined &&
        allowed.has(directoryCertificateSignPermission.name) &&
        mayRequestCertificates(caller, certificates);
      const mayRevoke =
        certificates !== undefined &&
        !isPortalTokenMissing(caller, certificates);
      const operations = [...allowed].filter(
        name =>
          (mayRequest || name !== directoryCertificateSignPermission.name) &&
          (mayRevoke || name !== directoryCertificateRevokePermission.name),
      );
      return {
        result: {
          operations,
          signs_for_others: mayRequest && certificates.signers.has(caller),
        },
      };
    },
  };
}

/** An extension: people of the caller's groups, newest first. */
export function colleaguesOperation(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): Operation {
  const { directory, uris } = options;
  return {
    id: 'list_colleagues',
    method: 'get',
    path: '/me/colleagues/',
    permission: directoryReadPermission,
    async handle({ caller, query, fieldMask, context }) {
      const page = parseParameters(errors => parseSearchPage(query, errors));
      const keys = resolveFields(fieldMask, userModel);
      const { dn } = requireAccount(caller);
      const colleagues = await directory.listUsers(
        {
          from: { kind: 'colleaguesOf', dn },
          order: { kind: 'newestFirst' },
          page,
          fields: userFieldsFor(keys),
        },
        context,
      );
      const shown = mapPage(colleagues, user => presentUser(user, keys, uris));
      return envelopePage(shown, page);
    },
  };
}

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
          expired: isExpired(account),
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
