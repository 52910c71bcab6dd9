import type { AuditorService } from '@backstage/backend-plugin-api';
import type {
  Accounts,
  PrivateDirectory,
} from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
import { UserCertificates } from '../../certificates/UserCertificates';
import type { AccessControl } from '../../access/AccessControl';
import type { Dialect } from '../api/Dialect';
import type { Operation } from '../api/Operation';
import type { Changes } from '../../changes/createChanges';
import {
  certificateOperations,
  certificateOperationsWithoutAuthority,
  certificateProfilesOperation,
  type CertificateServices,
} from './certificates';
import { ownCertificateOperations } from './ownCertificates';
import { changesOperation } from './changes';
import { exportMembersOperation } from './exportMembers';
import { groupExtensions, groupOperations } from './groups';
import { historyOperations } from './history';
import { membershipsOperation } from './memberships';
import {
  accountOperation,
  colleaguesOperation,
  meOperation,
  operationsOperation,
} from './me';
import { userCertificatesOperation, userOperations } from './users';

/** Options of {@link createOperations}. */
export interface OperationsOptions {
  readonly access: Pick<AccessControl, 'operationsOf' | 'require'>;
  readonly accounts: Pick<Accounts, 'findForSignIn'>;
  readonly auditor: AuditorService;
  readonly authorities: Pick<
    CertificateAuthorities,
    'get' | 'present' | 'recorded'
  >;
  /** `undefined` without `directory.certificates`. */
  readonly certificates: CertificateServices | undefined;
  readonly changes: Changes;
  readonly directory: PrivateDirectory;
}

/** Creates the operations of a dialect: the contract's and its extensions. */
export function createOperations(
  options: OperationsOptions & { readonly dialect: Dialect },
): readonly Operation[] {
  const { dialect, certificates } = options;
  return [
    meOperation(options),
    ...userOperations(options),
    ...groupOperations(options),
    ...(certificates
      ? certificateOperations({ ...certificates, dialect })
      : certificateOperationsWithoutAuthority()),
    ...(dialect.hasExtensions ? createExtensions(options) : []),
  ];
}

function createExtensions(
  options: OperationsOptions & { readonly dialect: Dialect },
): readonly Operation[] {
  const { authorities, certificates, dialect, directory } = options;
  return [
    accountOperation(options),
    operationsOperation(options),
    colleaguesOperation(options),
    ...groupExtensions(options),
    membershipsOperation(options),
    exportMembersOperation(options),
    changesOperation(options),
    ...historyOperations(options),
    userCertificatesOperation({
      certificates:
        certificates?.listed ??
        new UserCertificates({
          authorities,
          directory,
          records: { listOf: async () => [] },
          stableIdOf: () => undefined,
        }),
      dialect,
    }),
    ...(certificates
      ? [
          certificateProfilesOperation(certificates),
          ...ownCertificateOperations({ ...options, ...certificates }),
        ]
      : []),
  ];
}
