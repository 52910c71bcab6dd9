import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { type SchemaPreset, schemaPreset } from '../../directory/schema';
import { readLdapConfig } from '../../ldap/connection/LdapConfig';
import { LdapPool, type LdapSearcher } from '../../ldap/connection/LdapPool';
import { LdapPrincipalLookup } from '../../ldap/LdapPrincipalLookup';
import { LdapReader } from '../../ldap/LdapReader';
import { AccessVerifier } from '../../ldap/AccessVerifier';
import { SchemaVerifier } from '../../ldap/SchemaVerifier';
import { RecordingLogger } from '../RecordingLogger';
import { ldapOf } from '../gateway/startGateway';
import type { Entry } from 'ldapts';
import { trustedDn } from '../../ldap/connection/DistinguishedName';
import { equals, isA } from '../../ldap/connection/filters';
import type { LdapSearch } from '../../ldap/connection/LdapConnection';
import type { SrvResolver } from '../../ldap/connection/LdapServers';

/** Creates the plugin's pool for a realm. */
export function openLdapPool(
  realm: Realm,
  logger: RecordingLogger,
  ldap: JsonObject = {},
): LdapPool {
  const config = readLdapConfig(
    new ConfigReader({ ...ldapOf(realm), ...ldap }),
  );
  return new LdapPool({ config, logger });
}

/** Principal lookup of the plugin on a realm, with its own pool. */
export interface OpenLdapPrincipals {
  readonly principals: LdapPrincipalLookup;
  readonly pool: LdapPool;
  close(): void;
}

/** Opens the plugin's principal lookup on a realm. */
export function openLdapPrincipals(options: {
  readonly realm: Realm;
  readonly schema?: SchemaPreset;
  /** Merged over the `directory.ldap` block. */
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

/** Reads a realm after the access check of its service account. */
export function createLdapReader(options: {
  readonly realm: Realm;
  readonly searcher: LdapSearcher;
  readonly logger: RecordingLogger;
  readonly schema?: SchemaPreset;
}): LdapReader {
  const { searcher, logger, realm } = options;
  const { baseDn, bindDn } = realm;
  const schema = schemaPreset(options.schema ?? 'fas');
  const accessVerifier = new AccessVerifier({
    searcher,
    bindDn,
    baseDn,
    schema,
    logger,
    maxAgeMs: 60_000,
    schemaVerifier: new SchemaVerifier({ searcher, schema }),
  });
  return new LdapReader({ searcher, accessVerifier });
}

/** A pool in the test's own process. */
export interface PoolUnderTest {
  readonly pool: LdapPool;
  /** What it has logged at the levels of warnings and errors. */
  readonly log: () => string;
  /** All lines that it has logged. */
  readonly lines: () => readonly string[];
  /** Its answer to one search. */
  search(search: LdapSearch): Promise<readonly Entry[]>;
}

/** Starts a pool for a realm. `ldap` overrides keys of `directory.ldap`. */
export function startPool(options: {
  readonly realm: Realm;
  readonly ldap?: JsonObject;
  readonly resolver?: SrvResolver;
  readonly failbackMs?: number;
}): PoolUnderTest {
  const { realm, ldap, resolver, failbackMs } = options;
  const logger = new RecordingLogger();
  const config = { ...ldapOf(realm), ...ldap };
  const pool = new LdapPool({
    config: readLdapConfig(new ConfigReader(config)),
    logger,
    resolver,
    failbackMs,
  });
  return {
    pool,
    log: () =>
      logger.lines.filter(line => /^(warn|error) /.test(line)).join('\n'),
    lines: () => logger.lines,
    async search(search) {
      const { signal } = new AbortController();
      return (await pool.search(search, { signal })).entries;
    },
  };
}

/** The search for one person, by name. */
export function personSearch(realm: Realm, uid: string): LdapSearch {
  return {
    base: usersOf(realm),
    scope: 'one',
    filter: equals('uid', uid),
    attributes: ['uid', 'mail', 'sn', 'objectClass'],
  };
}

/** The search for everybody, in answers of several pages. */
export function everybodySearch(realm: Realm): LdapSearch {
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
