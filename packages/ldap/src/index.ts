/**
 * LDAP connections, the principal lookup, and a `ReplicaSource` for each kind of directory server.
 *
 * @packageDocumentation
 */

export { normalizeDn } from './connection/DistinguishedName';
export { type LdapConfig, readLdapConfig } from './connection/LdapConfig';
export { LdapPool } from './connection/LdapPool';
export { createReplicaDirectory } from './createReplicaDirectory';
export { DirectoryProbe, type MissingRights } from './DirectoryProbe';
export { LdapPrincipalLookup } from './LdapPrincipalLookup';
export { LdapReader } from './LdapReader';
export { SchemaVerifier } from './SchemaVerifier';
