import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { createHash } from 'node:crypto';
import {
  Accounts,
  type DirectorySchema,
  MassDeletionGuard,
  observeReplica,
  type PrivacyPolicy,
  PrivateDirectory,
  type Replica,
  type ReplicatedAccounts,
  type SubjectLookup,
  type VisibilityTests,
} from '@directory-gateway/directory-core';
import {
  createReplicaDirectory,
  LdapPool,
  LdapPrincipalLookup,
  LdapReader,
  normalizeDn,
} from '@directory-gateway/ldap';
import { type Changes, createChanges } from './changes/createChanges';
import type { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { IssuedCertificates } from './certificates/IssuedCertificates';
import type { OpenedRecords } from './createCertificates';
import type { DirectoryConfig } from './config';
import { ReplicaQuarantine } from './guard/ReplicaQuarantine';

/** Options of {@link createDirectory}. */
export interface CreateDirectoryOptions {
  readonly config: Pick<
    DirectoryConfig,
    'ldap' | 'replica' | 'schema' | 'privacy' | 'certificates' | 'changes'
  >;
  readonly authorities: Pick<CertificateAuthorities, 'recorded'>;
  readonly certificateRecords: OpenedRecords | undefined;
  readonly database: Database;
  readonly lifecycle: LifecycleService;
  readonly logger: LoggerService;
}

/**
 * Connects to the directory servers and starts the replica, which follows them
 * until shutdown.
 *
 * @throws InputError when the directory does not have the configured schema.
 */
export async function createDirectory({
  config,
  authorities,
  certificateRecords,
  database,
  lifecycle,
  logger,
}: CreateDirectoryOptions): Promise<{
  readonly directory: PrivateDirectory;
  /** Finds entries for permission rules. */
  readonly entries: VisibilityTests;
  readonly accounts: Accounts;
  readonly changes: Changes;
  readonly quarantine: ReplicaQuarantine;
  readonly replica: Replica;
  /** The replica's accounts. */
  readonly replicated: ReplicatedAccounts;
  /** Finds accounts across renames. */
  readonly subjects: SubjectLookup;
}> {
  const { ldap, schema, certificates } = config;
  const { baseDn, bindDn } = ldap;
  if (ldap.bindPassword.kind === 'file') {
    await checkSecretFile(ldap.bindPassword.path, {
      key: 'directory.ldap.bindPasswordFile',
    });
  }
  const searcher = new LdapPool({ config: ldap, logger });
  lifecycle.addShutdownHook(() => searcher.close());
  const reader = new LdapReader({
    searcher,
    schema,
    baseDn,
    bindDn,
    maxAgeMs: ldap.probeIntervalMs,
    logger,
  });
  await reader.schemaVerifier.requireIfReachable();
  const quarantine = new ReplicaQuarantine({
    database,
    logger,
    directoryKey: directoryKeyOf({ baseDn, schema }),
  });
  const guard = new MassDeletionGuard({
    records: quarantine,
    maxShrinkage: config.replica.maxShrinkage,
    logger,
  });
  const {
    directory,
    accounts: replicatedAccounts,
    replica,
  } = createReplicaDirectory({
    reader,
    servers: searcher.servers,
    schema,
    ldap,
    guard,
    maxStalenessMs: config.replica.maxStalenessMs,
    logger,
  });
  lifecycle.addShutdownHook(() => replica.stop());
  quarantine.start({ guard, replica }, lifecycle);
  observeReplica(replica);
  const privacy: PrivacyPolicy = {
    ...config.privacy,
    ownOnly: new Set(certificates?.readable === 'own' ? ['certificates'] : []),
  };
  const issued =
    certificateRecords &&
    new IssuedCertificates({
      ...certificateRecords,
      authorities: () => authorities.recorded,
      stableIdOf: username => replicatedAccounts.stableIdOf(username),
    });
  const privateDirectory = new PrivateDirectory(
    directory,
    privacy,
    issued && ((users, fields) => issued.addTo(users, fields)),
  );
  const changes = createChanges({
    config: config.changes,
    database,
    directory: privateDirectory,
    baseDn,
    lifecycle,
    logger,
    privacy,
    replica,
    schema,
  });
  const principals = new LdapPrincipalLookup({
    reader,
    schema,
    baseDn,
    logger,
  });
  const accounts = new Accounts({
    principals,
    servers: searcher.servers,
    replica: replicatedAccounts,
  });
  replica.observe({
    onWrite: written => accounts.discard(written.keys),
    onConfirmed() {},
  });
  replica.follow();
  return {
    directory: privateDirectory,
    entries: directory,
    changes,
    accounts,
    quarantine,
    replica,
    replicated: replicatedAccounts,
    subjects: principals,
  };
}

/** Identifies the entries that are counted, as SHA-256 in hex. */
function directoryKeyOf({
  baseDn,
  schema,
}: {
  readonly baseDn: string;
  readonly schema: DirectorySchema;
}): string {
  const { userClass, groupClass } = schema;
  return createHash('sha256')
    .update(JSON.stringify([normalizeDn(baseDn), userClass, groupClass]))
    .digest('hex');
}
