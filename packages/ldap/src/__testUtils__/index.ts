/**
 * Connections to a realm, faults of the connection, and the conformance suite of replica sources.
 *
 * @packageDocumentation
 */

export { AccessLog, type LoggedSearch } from './AccessLog';
export { type Fault, FaultProxy } from './FaultProxy';
export {
  ldapOf,
  openLdapPool,
  openLdapPrincipals,
  type OpenLdapPrincipals,
} from './openLdap';
export { openReplica, type OpenReplica } from './openReplica';
export { startTlsFront, TestAuthority } from './TestAuthority';
export { TwoServers } from './TwoServers';
