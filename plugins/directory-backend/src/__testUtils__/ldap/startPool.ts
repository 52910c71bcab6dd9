import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import type { Entry } from 'ldapts';
import { trustedDn } from '../../ldap/connection/DistinguishedName';
import { equals, isA } from '../../ldap/connection/filters';
import { readLdapConfig } from '../../ldap/connection/LdapConfig';
import type { LdapSearch } from '../../ldap/connection/LdapConnection';
import { LdapPool } from '../../ldap/connection/LdapPool';
import type { SrvResolver } from '../../ldap/connection/LdapServers';
import { RecordingLogger } from '../RecordingLogger';
import { ldapOf } from '../gateway/startGateway';

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
