import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { schemaPreset, type SchemaPreset } from '../../directory/schema';
import { readLdapConfig } from '../../ldap/connection/LdapConfig';
import { LdapPool, type LdapSearcher } from '../../ldap/connection/LdapPool';
import { LdapPrincipals } from '../../ldap/LdapPrincipalLookup';
import { LdapReader } from '../../ldap/LdapReader';
import { RightsProof } from '../../ldap/AccessVerifier';
import { SchemaProof } from '../../ldap/SchemaVerifier';
import { RecordingLogger } from '../RecordingLogger';
import { ldapOf } from '../gateway/startGateway';

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
  readonly principals: LdapPrincipals;
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
  const principals = new LdapPrincipals({
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
  const proof = new RightsProof({
    searcher,
    bindDn,
    baseDn,
    schema,
    logger,
    maxAgeMs: 60_000,
    schemaProof: new SchemaProof({ searcher, schema }),
  });
  return new LdapReader({ searcher, proof });
}
