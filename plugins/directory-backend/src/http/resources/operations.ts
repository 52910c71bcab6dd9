import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { CertificatesConfig } from '../../certificates/CertificatesConfig';
import {
  isPortalTokenMissing,
  mayRequestCertificates,
} from '../../certificates/judgeRequester';
import type { AccessControl } from '../access/AccessControl';
import type { Operation } from '../api/Operation';

/**
 * An extension: what the caller may do, so that pages offer nothing that the
 * API would refuse.
 */
export function operationsOperation(options: {
  readonly access: AccessControl;
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
