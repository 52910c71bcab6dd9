/**
 * A realm on loopback for development, tests and benchmarks: MIT KDC and 389
 * Directory Server with FreeIPA's tree and users. Also PostgreSQL.
 *
 * @packageDocumentation
 */
export { enableReplication, type Replication } from './enableReplication';
export { PostgresServer } from './PostgresServer';
export { freePorts } from './Server';
export { startOtherRealm, type OtherRealm } from './startOtherRealm';
export { startRealm, type Realm, type RealmOptions } from './startRealm';
