import assert from 'node:assert';
import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { readLdapConfig } from '../connection/LdapConfig';
import { createReplicaDirectory } from '../createReplicaDirectory';
import { LdapPrincipalLookup } from '../LdapPrincipalLookup';
import { createLdapReader, ldapOf, openLdapPool } from './openLdap';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type Directory,
  type Replica,
  type ReplicatedAccounts,
  schemaPreset,
  type SchemaPreset,
} from '@directory-gateway/directory-core';
import {
  createGuard,
  eventually,
  MemoryGuardRecords,
} from '@directory-gateway/directory-core/testUtils';

/** A replica of a realm and its readers. */
export interface OpenReplica {
  readonly directory: Directory;
  readonly accounts: ReplicatedAccounts;
  readonly replica: Replica;
  /** Live lookups with the connections of the replica. */
  readonly principals: LdapPrincipalLookup;
  readonly guardRecords: MemoryGuardRecords;
  readonly logger: RecordingLogger;
  close(): void;
}

/** Opens a replica of a realm like the plugin. */
export async function openReplica(options: {
  readonly realm: Realm;
  readonly schema?: SchemaPreset;
  readonly maxStalenessMs?: number;
  readonly checkIntervalMs?: number;
  readonly syncIntervalMs?: number;
  readonly holdMs?: number;
  /** Merged into the `directory.ldap` block. */
  readonly ldap?: JsonObject;
  /** Called before the replica follows the directory. */
  readonly prepare?: (replica: Replica) => void;
}): Promise<OpenReplica> {
  const { realm } = options;
  const logger = new RecordingLogger();
  const guardRecords = new MemoryGuardRecords();
  const searcher = openLdapPool(realm, logger, options.ldap);
  const services = { ...options, searcher, logger };
  const config = readLdapConfig(
    new ConfigReader({ ...ldapOf(realm), ...options.ldap }),
  );
  const reader = createLdapReader({
    ...services,
    maxAgeMs: config.probeIntervalMs,
  });
  const schema = schemaPreset(options.schema ?? 'fas');
  const { directory, accounts, replica } = createReplicaDirectory({
    reader,
    servers: searcher.servers,
    schema,
    ldap: config,
    logger,
    // The model of a suite may block this process for minutes on a loaded
    // machine.
    maxStalenessMs: options.maxStalenessMs ?? 600_000,
    checkIntervalMs: options.checkIntervalMs,
    syncIntervalMs: options.syncIntervalMs,
    holdMs: options.holdMs,
    guard: createGuard({ records: guardRecords, maxShrinkage: 0.5 }),
  });
  options.prepare?.(replica);
  replica.follow();
  await eventually(() => assert(replica.isServing));
  return {
    directory,
    accounts,
    replica,
    principals: new LdapPrincipalLookup({
      reader,
      schema,
      baseDn: realm.baseDn,
      logger,
    }),
    guardRecords,
    logger,
    close: () => {
      replica.stop();
      searcher.close();
    },
  };
}
