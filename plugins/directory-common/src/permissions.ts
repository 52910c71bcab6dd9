import { createPermission } from '@backstage/plugin-permission-common';

/**
 * Reading users, groups, agreements and certificates, and searching.
 *
 * @public
 */
export const directoryReadPermission = createPermission({
  name: 'directory.read',
  attributes: { action: 'read' },
});

/**
 * Requesting a certificate, for oneself unless
 * `directory.certificates.signers` names the caller.
 *
 * @public
 */
export const directoryCertificateSignPermission = createPermission({
  name: 'directory.certificate.sign',
  attributes: { action: 'create' },
});

/**
 * Revoking a certificate.
 *
 * @public
 */
export const directoryCertificateRevokePermission = createPermission({
  name: 'directory.certificate.revoke',
  attributes: { action: 'update' },
});

/**
 * Downloading all members of a group as one file.
 *
 * @public
 */
export const directoryMembersExportPermission = createPermission({
  name: 'directory.members.export',
  attributes: { action: 'read' },
});

/**
 * Overriding the mass-deletion guard, after many entries of the directory were
 * deleted.
 *
 * @public
 */
export const directoryReplicaOverridePermission = createPermission({
  name: 'directory.replica.override',
  attributes: { action: 'update' },
});

/**
 * Every permission of the directory.
 *
 * @public
 */
export const directoryPermissions = [
  directoryReadPermission,
  directoryCertificateSignPermission,
  directoryCertificateRevokePermission,
  directoryMembersExportPermission,
  directoryReplicaOverridePermission,
];
