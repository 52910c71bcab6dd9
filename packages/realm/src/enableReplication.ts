import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readValues } from './directory';
import type { Realm } from './Realm';
import { BASE_DN } from './realmFiles';

const SUFFIX = `cn=${BASE_DN.replace(/[=,]/g, escapeHex)},cn=mapping tree,cn=config`;
const MANAGER = 'cn=replication manager,cn=config';
const REPLICA_DN = `cn=replica,${SUFFIX}`;
const AGREEMENT = `cn=agreement,${REPLICA_DN}`;

/** Attributes that FreeIPA's agreements do not replicate. */
const LOCAL =
  'entryusn krblastsuccessfulauth krblastfailedauth krbloginfailedcount';

/** Replication between two directory servers, in both directions. */
export interface Replication {
  /** Stops sending changes. Both servers must run, as for `resume`. */
  pause(): Promise<void>;
  /** Sends the pending changes and continues to send new ones. */
  resume(): Promise<void>;
  /**
   * Waits until each server has received all current changes from the other, by
   * means of changes to the suffix entry. Must not be called during a pause.
   */
  caughtUp(): Promise<void>;
}

/**
 * Replicates the directories of two realms to each other, as FreeIPA does. All
 * entries of the second one are replaced first. No server restarts; replication
 * continues after a later restart. Can be called once per realm.
 *
 * @throws Error with the server's status when the second one cannot be filled
 */
export async function enableReplication(options: {
  readonly first: Realm;
  readonly second: Realm;
}): Promise<Replication> {
  const { first, second } = options;
  const password = randomBytes(18).toString('base64url');
  await first.modify(replicaLdif(1, password));
  await second.modify(replicaLdif(2, password));
  await first.modify(agreementLdif(second, password));
  // The initial refresh is a separate change: as part of the agreement, it
  // would run again whenever the agreement is re-enabled.
  await first.modify(`dn: ${AGREEMENT}
changetype: modify
replace: nsds5BeginReplicaRefresh
nsds5BeginReplicaRefresh: start
`);
  await untilFilled(first);
  await second.modify(agreementLdif(first, password));
  const setEnabled = async (value: 'on' | 'off') => {
    for (const realm of [first, second]) {
      await realm.modify(`dn: ${AGREEMENT}
changetype: modify
replace: nsds5ReplicaEnabled
nsds5ReplicaEnabled: ${value}
`);
    }
  };
  const caughtUp = async () => {
    await sendMarker(first, second);
    await sendMarker(second, first);
    // The changes that the plugins of the first server have made for those of
    // the second one, which are not replicated.
    await sendMarker(first, second);
  };
  await caughtUp();
  return {
    pause: () => setEnabled('off'),
    resume: () => setEnabled('on'),
    caughtUp,
  };
}

/** Changes an entry of one server and waits until the other one has the change. */
async function sendMarker(supplier: Realm, consumer: Realm): Promise<void> {
  const marker = randomUUID();
  await supplier.modify(`dn: ${BASE_DN}
changetype: modify
replace: description
description: ${marker}
`);
  let descriptions: string[] = [];
  while (!descriptions.includes(marker)) {
    await sleep(50);
    descriptions = await readValues(consumer, BASE_DN, 'description');
  }
}

/**
 * Makes a server a supplier with a change log (type 3, flags 1). A supplier that
 * cannot reach its consumer retries after 1 to 2 s instead of 3 s to 5 minutes.
 */
function replicaLdif(id: number, password: string): string {
  return `dn: ${MANAGER}
changetype: add
objectClass: top
objectClass: netscapeServer
objectClass: nsAccount
cn: replication manager
userPassword: ${password}

dn: ${REPLICA_DN}
changetype: add
objectClass: top
objectClass: nsDS5Replica
cn: replica
nsDS5ReplicaRoot: ${BASE_DN}
nsDS5ReplicaId: ${id}
nsDS5ReplicaType: 3
nsDS5Flags: 1
nsDS5ReplicaBindDN: ${MANAGER}
nsds5ReplicaBackoffMin: 1
nsds5ReplicaBackoffMax: 2
`;
}

function agreementLdif(consumer: Realm, password: string): string {
  const { hostname, port } = new URL(consumer.ldapUrl);
  return `dn: ${AGREEMENT}
changetype: add
objectClass: top
objectClass: nsds5ReplicationAgreement
cn: agreement
nsDS5ReplicaRoot: ${BASE_DN}
nsDS5ReplicaHost: ${hostname}
nsDS5ReplicaPort: ${port}
nsDS5ReplicaTransportInfo: LDAP
nsDS5ReplicaBindMethod: SIMPLE
nsDS5ReplicaBindDN: ${MANAGER}
nsDS5ReplicaCredentials: ${password}
nsDS5ReplicatedAttributeList: (objectclass=*) $ EXCLUDE memberof ${LOCAL}
nsDS5ReplicatedAttributeListTotal: (objectclass=*) $ EXCLUDE ${LOCAL}
nsds5ReplicaStripAttrs: modifiersName modifyTimestamp internalModifiersName internalModifyTimestamp
`;
}

async function untilFilled(supplier: Realm): Promise<void> {
  const read = (attribute: string) =>
    readValues(supplier, AGREEMENT, attribute);
  while ((await read('nsds5BeginReplicaRefresh')).length > 0) {
    await sleep(50);
  }
  const [status] = await read('nsds5replicaLastInitStatus');
  if (!status?.startsWith('Error (0)')) {
    throw new Error(`The consumer was not filled: ${status}`);
  }
}

function escapeHex(char: string): string {
  return `\\${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
