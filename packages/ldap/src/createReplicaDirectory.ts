import {
  type DirectorySchema,
  type Reachability,
  Replica,
  ReplicaDirectory,
  type ReplicaOptions,
  ReplicatedAccounts,
} from '@directory-gateway/directory-core';
import { normalizeDn, rdnValueOf } from './connection/DistinguishedName';
import type { LdapConfig } from './connection/LdapConfig';
import type { LdapServers } from './connection/LdapServers';
import type { LdapReader } from './LdapReader';
import { LdapReplicaSource } from './LdapReplicaSource';

/** Options of {@link createReplicaDirectory}. */
export interface ReplicaDirectoryOptions extends Omit<
  ReplicaOptions,
  'source'
> {
  readonly reader: LdapReader;
  /** Reports when the directory refuses the service account. */
  readonly servers: Pick<LdapServers, 'reachability' | 'onReachability'>;
  readonly schema: DirectorySchema;
  readonly ldap: LdapConfig;
}

/** Creates a directory that reads a replica. Call the replica's `follow()`. */
export function createReplicaDirectory(options: ReplicaDirectoryOptions): {
  readonly directory: ReplicaDirectory;
  readonly accounts: ReplicatedAccounts;
  readonly replica: Replica;
} {
  const source = new LdapReplicaSource(options);
  const replica = new Replica({ ...options, source });
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
  options.reader.accessVerifier.onFailed(message =>
    replica.suspend('accessCheck', message),
  );
  const { tables } = replica;
  return {
    directory: new ReplicaDirectory({
      gate: replica.state,
      tables,
      keyOf: normalizeDn,
    }),
    accounts: new ReplicatedAccounts({
      replica,
      tables,
      keyOf: normalizeDn,
      groupName: key => rdnValueOf(key)?.toLowerCase(),
    }),
    replica,
  };
}
