import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { schemaPreset, type SchemaPreset } from '../directory/schema';
import { readLdapConfig } from '../ldap/LdapConfig';
import { LdapDirectory } from '../ldap/LdapDirectory';
import { LdapPool, type LdapSearcher } from '../ldap/LdapPool';
import { LdapPrincipals } from '../ldap/LdapPrincipals';
import { LdapReader } from '../ldap/LdapReader';
import { RightsProof } from '../ldap/RightsProof';
import { SchemaProof } from '../ldap/SchemaProof';
import { RecordingLogger } from './RecordingLogger';
import { ldapOf } from './startGateway';

/** A directory, as the plugin makes it, on a pool of its own. */
export interface OpenLdapDirectory {
  readonly directory: LdapDirectory;
  readonly logger: RecordingLogger;
  close(): void;
}

/** The pool that the plugin would have on a realm. */
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

/** Reads a realm as the plugin does, in this process and without HTTP. */
export function openLdapDirectory(options: {
  readonly realm: Realm;
  readonly schema?: SchemaPreset;
  /** As the option of `LdapDirectory`. */
  readonly comparisonIntervalMs?: number;
  /** Merged over the `directory.ldap` block. */
  readonly ldap?: JsonObject;
}): OpenLdapDirectory {
  const logger = new RecordingLogger();
  const pool = openLdapPool(options.realm, logger, options.ldap);
  const directory = createLdapDirectory({ ...options, searcher: pool, logger });
  return { directory, logger, close: () => pool.close() };
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
}): OpenLdapPrincipals {
  const { realm, schema = 'fas' } = options;
  const logger = new RecordingLogger();
  const pool = openLdapPool(realm, logger);
  const principals = new LdapPrincipals({
    reader: createLdapReader({ realm, searcher: pool, logger, schema }),
    schema: schemaPreset(schema),
    baseDn: realm.baseDn,
    logger,
  });
  return { principals, pool, close: () => pool.close() };
}

/** The same on somebody else's searcher. */
export function createLdapDirectory(options: {
  readonly realm: Realm;
  readonly searcher: LdapSearcher;
  readonly logger: RecordingLogger;
  readonly schema?: SchemaPreset;
  readonly comparisonIntervalMs?: number;
}): LdapDirectory {
  const { logger, realm, comparisonIntervalMs } = options;
  const { baseDn } = realm;
  const schema = schemaPreset(options.schema ?? 'fas');
  const reader = createLdapReader(options);
  return new LdapDirectory({
    ...{ reader, schema, baseDn, logger, comparisonIntervalMs },
    keptRecords: 20_000,
  });
}

/** What reads a realm after its account's rights have been proven. */
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
    ...{ searcher, bindDn, baseDn, schema, logger, maxAgeMs: 60_000 },
    schemaProof: new SchemaProof({ searcher, schema }),
  });
  return new LdapReader({ searcher, proof });
}
