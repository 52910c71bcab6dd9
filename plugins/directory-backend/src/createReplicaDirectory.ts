import type {
  DatabaseService,
  LifecycleService,
} from '@backstage/backend-plugin-api';
import type { DirectorySchema } from './directory/schema';
import { containersBelow } from './ldap/containers';
import { childOf, normalizeDn, trustedDn } from './ldap/DistinguishedName';
import type { LdapEndpoint } from './ldap/ldapClient';
import type { LdapPool } from './ldap/LdapPool';
import { LdapReplicaSource } from './ldap/LdapReplicaSource';
import type { LdapReader } from './ldap/LdapReader';
import { UsnClock } from './ldap/UsnClock';
import type { Reachability } from './directory/errors';
import { createCopiedDirectory } from './replica/createCopiedDirectory';
import { observeReplica } from './replica/observeReplica';
import { Refusals } from './replica/Refusals';
import { Replica, type ReplicaOptions } from './replica/Replica';
import { ReplicaDirectory } from './replica/ReplicaDirectory';

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
  readonly directory: ReplicaDirectory;
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
  const copied = createCopiedDirectory({
    tables: replica.tables,
    schema,
    keys: {
      user: value =>
        normalizeDn(childOf(containers.users, { attribute: uid, value })),
      group: value =>
        normalizeDn(childOf(containers.groups, { attribute: cn, value })),
      entry: normalizeDn,
    },
  });
  return {
    directory: new ReplicaDirectory({ copied, replica }),
    replica,
  };
}

/** The same, followed until the plugin ends, with what it refuses. */
export async function followDirectory(
  options: ReplicaDirectoryOptions & {
    readonly lifecycle: LifecycleService;
    readonly database: DatabaseService;
  },
): Promise<{
  readonly directory: ReplicaDirectory;
  readonly refusals: Refusals;
}> {
  const { directory, replica } = createReplicaDirectory(options);
  const refusals = await Refusals.create({ ...options, replica });
  options.lifecycle.addShutdownHook(() => replica.stop());
  refusals.keep(options.lifecycle);
  observeReplica(replica);
  replica.follow();
  return { directory, refusals };
}
