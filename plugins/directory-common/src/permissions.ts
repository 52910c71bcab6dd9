import { createPermission } from '@backstage/plugin-permission-common';

/**
 * Permission to read users, groups, agreements and certificates, and to search.
 *
 * @public
 */
export const directoryReadPermission = createPermission({
  name: 'directory.read',
  attributes: { action: 'read' },
});

/**
 * Resource type of directory users.
 *
 * @public
 */
export const RESOURCE_TYPE_DIRECTORY_USER = 'directory-user';

/**
 * Resource type of directory groups.
 *
 * @public
 */
export const RESOURCE_TYPE_DIRECTORY_GROUP = 'directory-group';

/**
 * Permission to see a directory user, for callers with `directory.read`. A
 * policy can limit it to some users.
 *
 * @public
 */
export const directoryUserReadPermission = createPermission({
  name: 'directory.user.read',
  attributes: { action: 'read' },
  resourceType: RESOURCE_TYPE_DIRECTORY_USER,
});

/**
 * Permission to see a directory group, for callers with `directory.read`. A
 * policy can limit it to some groups.
 *
 * @public
 */
export const directoryGroupReadPermission = createPermission({
  name: 'directory.group.read',
  attributes: { action: 'read' },
  resourceType: RESOURCE_TYPE_DIRECTORY_GROUP,
});

/**
 * Permission to request a certificate: for the caller, or for any user if
 * `directory.certificates.signers` names the caller.
 *
 * @public
 */
export const directoryCertificateSignPermission = createPermission({
  name: 'directory.certificate.sign',
  attributes: { action: 'create' },
});

/**
 * Permission to revoke certificates.
 *
 * @public
 */
export const directoryCertificateRevokePermission = createPermission({
  name: 'directory.certificate.revoke',
  attributes: { action: 'update' },
});

/**
 * Permission to download all members of a group as one file.
 *
 * @public
 */
export const directoryMembersExportPermission = createPermission({
  name: 'directory.members.export',
  attributes: { action: 'read' },
});

/**
 * Permission to read the histories of all users and groups. Without it,
 * sponsors can read the histories of their groups, and users their own.
 *
 * @public
 */
export const directoryHistoryReadPermission = createPermission({
  name: 'directory.history.read',
  attributes: { action: 'read' },
});

/**
 * Permission to override the mass-deletion guard after many directory entries
 * were deleted.
 *
 * @public
 */
export const directoryReplicaOverridePermission = createPermission({
  name: 'directory.replica.override',
  attributes: { action: 'update' },
});

/**
 * All permissions of directory operations, which `directory.access` can grant.
 *
 * @public
 */
export const directoryPermissions = [
  directoryReadPermission,
  directoryCertificateSignPermission,
  directoryCertificateRevokePermission,
  directoryMembersExportPermission,
  directoryHistoryReadPermission,
  directoryReplicaOverridePermission,
];
