import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import type { Entry } from 'ldapts';
import { trustedDn } from '../connection/DistinguishedName';
import { equals, isA } from '../connection/filters';
import { type LdapConfig, readLdapConfig } from '../connection/LdapConfig';
import type { LdapSearch } from '../connection/LdapConnection';
import { LdapPool, type LdapSearcher } from '../connection/LdapPool';
import type { LdapServersOptions } from '../connection/LdapServers';
import { LdapPrincipalLookup } from '../LdapPrincipalLookup';
import { LdapReader } from '../LdapReader';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  schemaPreset,
  type SchemaPreset,
} from '@directory-gateway/directory-core';

/**
 * Returns the `directory.ldap` block for a realm. Its timeouts are long, so
 * that no test fails on a busy machine; tests of a timeout set a short one.
 */
export function ldapOf(realm: Realm): JsonObject {
  return {
    servers: [realm.ldapsUrl],
    caFile: realm.caFile,
    baseDn: realm.baseDn,
    bindDn: realm.bindDn,
    bindPasswordFile: realm.bindPasswordFile,
    decisionTimeout: { seconds: 15 },
  };
}

/** Options of the plugin's pool, except for its configuration. */
export type PoolOptions = Omit<LdapServersOptions, 'config' | 'logger'> & {
  /** Overrides values that the configuration does not contain. */
  readonly constants?: Partial<LdapConfig>;
};

/** Creates the plugin's pool for a realm. */
export function openLdapPool(
  realm: Realm,
  logger: RecordingLogger,
  ldap: JsonObject = {},
  options: PoolOptions = {},
): LdapPool {
  const { constants, ...others } = options;
  const config = readLdapConfig(
    new ConfigReader({ ...ldapOf(realm), ...ldap }),
  );
  return new LdapPool({
    ...others,
    config: { ...config, ...constants },
    logger,
  });
}

/** The plugin's principal lookup on a realm, with a separate pool. */
export interface OpenLdapPrincipals {
  readonly principals: LdapPrincipalLookup;
  readonly pool: LdapPool;
  close(): void;
}

/** Opens the plugin's principal lookup on a realm. */
export function openLdapPrincipals(options: {
  readonly realm: Realm;
  readonly schema?: SchemaPreset;
  /** Merged into the `directory.ldap` block. */
  readonly ldap?: JsonObject;
}): OpenLdapPrincipals {
  const { realm, schema = 'fas' } = options;
  const logger = new RecordingLogger();
  const pool = openLdapPool(realm, logger, options.ldap);
  const principals = new LdapPrincipalLookup({
    reader: createLdapReader({ realm, searcher: pool, logger, schema }),
    schema: schemaPreset(schema),
    baseDn: realm.baseDn,
    logger,
  });
  return { principals, pool, close: () => pool.close() };
}

/** Creates a reader of a realm that requires the access check. */
export function createLdapReader(options: {
  readonly realm: Realm;
  readonly searcher: LdapSearcher;
  readonly logger: RecordingLogger;
  readonly schema?: SchemaPreset;
  /** Milliseconds for which an access check is cached. Default: one minute. */
  readonly maxAgeMs?: number;
}): LdapReader {
  const { searcher, logger, realm, maxAgeMs = 60_000 } = options;
  const { baseDn, bindDn } = realm;
  const schema = schemaPreset(options.schema ?? 'fas');
  return new LdapReader({
    searcher,
    bindDn,
    baseDn,
    schema,
    logger,
    maxAgeMs,
  });
}

/** The plugin's pool with its log. */
export interface PoolUnderTest {
  readonly pool: LdapPool;
  /** Returns warnings and errors, one per line. */
  readonly log: () => string;
  /** Returns log lines of all levels. */
  readonly lines: () => readonly string[];
  /** Returns the entries that a search finds. */
  search(search: LdapSearch): Promise<readonly Entry[]>;
}

/** Starts a pool for a realm. `ldap` overrides keys of `directory.ldap`. */
export function startPool(
  options: {
    readonly realm: Realm;
    readonly ldap?: JsonObject;
  } & PoolOptions,
): PoolUnderTest {
  const { realm, ldap, ...others } = options;
  const logger = new RecordingLogger();
  const pool = openLdapPool(realm, logger, ldap, others);
  return {
    pool,
    log: () =>
      logger.lines.filter(line => /^(warn|error) /.test(line)).join('\n'),
    lines: () => logger.lines,
    search: async search => (await pool.search(search)).entries,
  };
}

/** Returns a search for one user. */
export function personSearch(realm: Realm, uid: string): LdapSearch {
  return {
    base: usersOf(realm),
    scope: 'one',
    filter: equals('uid', uid),
    attributes: ['uid', 'mail', 'sn', 'objectClass'],
  };
}

/** Returns a search for all users, in several pages. */
export function allUsersSearch(realm: Realm): LdapSearch {
  return {
    base: usersOf(realm),
    scope: 'one',
    filter: isA('fasUser'),
    attributes: ['uid', 'mail'],
    pageSize: 50,
  };
}

function usersOf(realm: Realm) {
  return trustedDn(`cn=users,cn=accounts,${realm.baseDn}`);
}
