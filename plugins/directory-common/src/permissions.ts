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
 * The resource type of users of the directory.
 *
 * @public
 */
export const RESOURCE_TYPE_DIRECTORY_USER = 'directory-user';

/**
 * The resource type of groups of the directory.
 *
 * @public
 */
export const RESOURCE_TYPE_DIRECTORY_GROUP = 'directory-group';

/**
 * Seeing a user of the directory, for callers who have `directory.read`. A
 * policy may limit it to some users.
 *
 * @public
 */
export const directoryUserReadPermission = createPermission({
  name: 'directory.user.read',
  attributes: { action: 'read' },
  resourceType: RESOURCE_TYPE_DIRECTORY_USER,
});

/**
 * Seeing a group of the directory, for callers who have `directory.read`. A
 * policy may limit it to some groups.
 *
 * @public
 */
export const directoryGroupReadPermission = createPermission({
  name: 'directory.group.read',
  attributes: { action: 'read' },
  resourceType: RESOURCE_TYPE_DIRECTORY_GROUP,
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
 * Reading the membership histories of all users and groups. Sponsors read those
 * of their groups, and users their own, without it.
 *
 * @public
 */
export const directoryHistoryReadPermission = createPermission({
  name: 'directory.history.read',
  attributes: { action: 'read' },
});

/**
 * Reading when accounts were locked and unlocked, in the histories that the
 * caller may read.
 *
 * @public
 */
export const directoryHistoryLocksReadPermission = createPermission({
  name: 'directory.history.locks.read',
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
 * The permissions of the directory's operations, which `directory.access` can
 * grant.
 *
 * @public
 */
export const directoryPermissions = [
  directoryReadPermission,
  directoryCertificateSignPermission,
  directoryCertificateRevokePermission,
  directoryMembersExportPermission,
  directoryHistoryReadPermission,
  directoryHistoryLocksReadPermission,
  directoryReplicaOverridePermission,
];
