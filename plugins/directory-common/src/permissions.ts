import { createPermission } from '@backstage/plugin-permission-common';

/**
 * Reading users, groups, agreements and certificates, and searching. Asked of
 * portal users only: callers with a Kerberos ticket hold no portal token.
 *
 * @public
 */
export const directoryReadPermission = createPermission({
  name: 'directory.read',
  attributes: { action: 'read' },
});

/**
 * Asking the certificate authority for a certificate.
 *
 * @public
 */
export const directoryCertificateSignPermission = createPermission({
  name: 'directory.certificate.sign',
  attributes: { action: 'create' },
});

/**
 * Revoking a certificate, which stays on record.
 *
 * @public
 */
export const directoryCertificateRevokePermission = createPermission({
  name: 'directory.certificate.revoke',
  attributes: { action: 'update' },
});

/**
 * Saying that a directory which has lost many of its entries all at once is
 * right.
 *
 * @public
 */
export const directoryReplicaAcceptPermission = createPermission({
  name: 'directory.replica.accept',
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
  directoryReplicaAcceptPermission,
];
