import type {
  DatabaseService,
  LifecycleService,
} from '@backstage/backend-plugin-api';
import { createHash } from 'node:crypto';
import type { DirectorySchema } from './directory/schema';
import { containersBelow } from './ldap/containers';
import {
  childOf,
  normalizeDn,
  rdnValueOf,
  trustedDn,
} from './ldap/DistinguishedName';
import type { LdapEndpoint } from './ldap/ldapClient';
import type { LdapPool } from './ldap/LdapPool';
import { LdapReplicaSource } from './ldap/LdapReplicaSource';
import type { LdapReader } from './ldap/LdapReader';
import { UsnClock } from './ldap/UsnClock';
import type { Directory } from './directory/Directory';
import type { Reachability } from './directory/errors';
import { createCopiedDirectory } from './replica/createCopiedDirectory';
import { gateReads } from './replica/gateReads';
import { MassDeletionGuard } from './replica/MassDeletionGuard';
import { observeReplica } from './replica/observeReplica';
import { Quarantines } from './replica/Quarantines';
import { Replica, type ReplicaOptions } from './replica/Replica';
import { ReplicatedAccounts } from './replica/ReplicatedAccounts';

/** Options of {@link createReplicaDirectory}. */
export interface ReplicaDirectoryOptions
  extends Omit<ReplicaOptions, 'source'> {
  readonly reader: LdapReader;
  /** Reports when the directory refuses the service account. */
  readonly servers: Pick<LdapPool, 'reachability' | 'onReachability'>;
  readonly schema: DirectorySchema;
  readonly baseDn: string;
  /** The account that reads. */
  readonly bindDn: string;
  /** How a server is connected to, to hear of its changes. */
  readonly endpoint: (url: string) => Promise<LdapEndpoint>;
}

/** A directory that reads a replica, whose `follow()` must be called. */
export function createReplicaDirectory(options: ReplicaDirectoryOptions): {
  readonly directory: Directory;
  readonly accounts: ReplicatedAccounts;
  readonly replica: Replica;
} {
  const { schema, baseDn } = options;
  const containers = containersBelow(baseDn);
  const replica = new Replica({
    ...options,
    source: new LdapReplicaSource({
      ...{ ...options, containers, base: trustedDn(baseDn) },
      clock: new UsnClock(options),
    }),
  });
  const suspendIfRefused = (reachability: Reachability) => {
    if (reachability === 'refused') {
      replica.suspend(
        'credentials',
        "The directory refused the service account's credentials",
      );
    }
  };
  suspendIfRefused(options.servers.reachability);
  options.servers.onReachability(suspendIfRefused);
  options.reader.onAccessCheckFailed(message =>
    replica.suspend('accessCheck', message),
  );
  const uid = schema.users.username.attribute!;
  const cn = schema.groups.groupname.attribute!;
  const keys = {
    user: (value: string) =>
      normalizeDn(childOf(containers.users, { attribute: uid, value })),
    group: (value: string) =>
      normalizeDn(childOf(containers.groups, { attribute: cn, value })),
    entry: normalizeDn,
  };
  const { tables } = replica;
  const copied = createCopiedDirectory({ tables, schema, keys });
  return {
    directory: gateReads(copied, replica.gate),
    accounts: new ReplicatedAccounts({
      replica,
      tables,
      keys,
      groupName: key => rdnValueOf(key)?.toLowerCase(),
    }),
    replica,
  };
}

/** Opens a directory that reads a replica, which follows until shutdown. */
export async function followDirectory(
  options: Omit<ReplicaDirectoryOptions, 'guard'> & {
    /** Maximum share of users or groups that may be deleted in 24 hours. */
    readonly maxShrinkage: number;
    readonly lifecycle: LifecycleService;
    readonly database: DatabaseService;
  },
): Promise<{
  readonly directory: Directory;
  readonly accounts: ReplicatedAccounts;
  readonly quarantines: Quarantines;
  readonly replica: Replica;
}> {
  const quarantines = await Quarantines.create({
    ...options,
    directoryKey: directoryKeyOf(options),
  });
  const guard = new MassDeletionGuard({ ...options, records: quarantines });
  const { directory, accounts, replica } = createReplicaDirectory({
    ...options,
    guard,
  });
  options.lifecycle.addShutdownHook(() => replica.stop());
  quarantines.follow({ guard, replica }, options.lifecycle);
  observeReplica(replica);
  replica.follow();
  return { directory, accounts, quarantines, replica };
}

/** Identifies the entries that are counted, as SHA-256 in hex. */
function directoryKeyOf({
  baseDn,
  schema,
}: Pick<ReplicaDirectoryOptions, 'baseDn' | 'schema'>): string {
  const { userClass, groupClass } = schema;
  return createHash('sha256')
    .update(JSON.stringify([normalizeDn(baseDn), userClass, groupClass]))
    .digest('hex');
}
