/**
 * LDAP connections, the principal lookup, and a `ReplicaSource` for each kind of directory server.
 *
 * @packageDocumentation
 */

export {
  accessRequirements,
  readMissingRights,
  readUnreadableAttributes,
} from './accessRequirements';
export {
  containersBelow,
  normalizeDn,
  trustedDn,
} from './connection/DistinguishedName';
export { isPresent } from './connection/filters';
export {
  bind,
  connectClient,
  readCa,
  readPassword,
  withDeadline,
} from './connection/ldapClient';
export { type LdapConfig, readLdapConfig } from './connection/LdapConfig';
export { isNoSuchObject, isRejectedBind } from './connection/ldapErrors';
export { LdapPool } from './connection/LdapPool';
export { LdapServers } from './connection/LdapServers';
export { createReplicaDirectory } from './createReplicaDirectory';
export { entryKinds } from './entryKinds';
export { textsOf } from './entryValues';
export { LdapPrincipalLookup } from './LdapPrincipalLookup';
export { LdapReader } from './LdapReader';
export { LdapReplicaSource } from './LdapReplicaSource';
export { SchemaVerifier } from './SchemaVerifier';
export { UsnReader } from './usns';
