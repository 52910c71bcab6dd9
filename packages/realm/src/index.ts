/**
 * A realm on loopback for development, tests and benchmarks: MIT KDC and 389
 * Directory Server with FreeIPA's tree and users. Also PostgreSQL.
 *
 * @packageDocumentation
 */
export { enableReplication, type Replication } from './enableReplication';
export { OtherRealm } from './OtherRealm';
export { PostgresServer } from './PostgresServer';
export type { Realm, RealmOptions } from './Realm';
export { freePorts } from './Server';
export { startRealm } from './startRealm';
