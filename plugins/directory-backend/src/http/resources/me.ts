import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  type Accounts,
  type Caller,
  isExpired,
  type PrivateDirectory,
} from '@directory-gateway/directory-core';
import {
  isPortalTokenMissing,
  mayRequestCertificates,
} from '../../certificates/signingRules';
import type { AccessControl } from '../../access/AccessControl';
import type { Dialect } from '../api/Dialect';
import { type Operation, operation, requireAccount } from '../api/Operation';
import { parseSearchPage } from '../request/parsePage';
import { ForbiddenError, ResourceNotFoundError } from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
import type { CertificateServices } from './certificates';
import { type DirectoryOptions, userList } from './lists';

const meModel: RecordModel = {
  keys: ['dn', 'username', 'service', 'uri'],
  lists: new Set(),
};

/** The authenticated principal (contract, section 2.2). */
export function meOperation(options: { readonly dialect: Dialect }): Operation {
  const { dialect } = options;
  return operation({
    id: 'whoami',
    path: '/me/',
    model: meModel,
    async handle({ caller }, { keys }) {
      const me = dialect.presentMe(requireAccount(caller));
      return { result: Object.fromEntries(keys.map(key => [key, me[key]])) };
    },
  });
}

/**
 * An extension: the operations that the caller may perform, and the fields that
 * private profiles hide. Pages offer only these operations.
 */
export function operationsOperation(options: {
  readonly access: Pick<AccessControl, 'operationsOf'>;
  /** `undefined` without `directory.certificates`. */
  readonly certificates:
    Pick<CertificateServices, 'authority' | 'config'> | undefined;
  readonly directory: Pick<PrivateDirectory, 'hiddenFields'>;
}): Operation {
  const { access, directory } = options;
  const certificates = options.certificates?.config;
  return operation({
    id: 'get_operations',
    path: '/me/operations/',
    async handle({ caller }) {
      const allowed = await access.operationsOf(caller);
      const authority = describeAuthority(options.certificates);
      const mayRequest =
        certificates !== undefined &&
        allowed.has(directoryCertificateSignPermission.name) &&
        mayRequestCertificates(caller, certificates);
      const mayRevoke =
        certificates !== undefined &&
        authority?.can_revoke === true &&
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
          certificate_authority: authority,
          hidden_fields: [...directory.hiddenFields],
        },
      };
    },
  });
}

/** Describes what the issuing CA can do after it has signed. */
function describeAuthority(
  certificates: Pick<CertificateServices, 'authority' | 'config'> | undefined,
): { readonly can_revoke: boolean; readonly can_hold: boolean } | null {
  if (!certificates) {
    return null;
  }
  const { authority, config } = certificates;
  return {
    can_revoke: authority.revoke !== undefined,
    can_hold: config.accountHolds.enabled && authority.hold !== undefined,
  };
}

/** An extension: users of the caller's groups, newest first. */
export function colleaguesOperation(options: DirectoryOptions): Operation {
  return userList(options, {
    id: 'list_colleagues',
    path: '/me/colleagues/',
    model: options.dialect.models.user,
    select({ caller, query }, errors) {
      const { dn } = requireAccount(caller);
      return {
        from: { kind: 'colleaguesOf', dn },
        order: { kind: 'newestFirst' },
        page: parseSearchPage(query, errors),
      };
    },
  });
}

/** An extension: the account of a Kerberos principal, for sign-in plugins. */
export function accountOperation(options: {
  readonly accounts: Pick<Accounts, 'findForSignIn'>;
}): Operation {
  return operation({
    id: 'get_account',
    path: '/accounts/:principal/',
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
  });
}

/** Subjects of external access tokens are configured without this prefix. */
function isPlugin(caller: Caller): boolean {
  return (
    caller.kind === 'portalService' &&
    caller.credentials.principal.subject.startsWith('plugin:')
  );
}
