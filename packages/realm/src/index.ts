/**
 * A realm on loopback for development, tests and benchmarks: MIT KDC and 389
 * Directory Server with FreeIPA's tree and users. Also PostgreSQL and Redis.
 *
 * @packageDocumentation
 */
export { OtherRealm } from './servers/OtherRealm';
export { freePorts } from './processes/ports';
export { PostgresServer } from './servers/PostgresServer';
export type { Realm, RealmDirectory } from './Realm';
export type { RealmOptions } from './RealmOptions';
export { RedisServer } from './servers/RedisServer';
export { startRealm } from './startRealm';
export {
  enableReplication,
  type Replication,
} from './replication/enableReplication';
