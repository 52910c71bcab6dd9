import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { readReplicated, readValues } from './directory';
import { BASE_DN, readData } from './realmFiles';
import type { Realm } from './startRealm';

const AGREEMENT =
  'cn=agreement,cn=replica,cn=dc\\3Dexample\\2Cdc\\3Dtest,cn=mapping tree,cn=config';

/** Replication between two directory servers, in both directions. */
export interface Replication {
  /** Stops sending changes. Both servers must run, as for `resume`. */
  pause(): Promise<void>;
  /** Sends the pending changes and continues to send new ones. */
  resume(): Promise<void>;
  /**
   * Waits until each server has received all current changes from the other, and
   * both have the same entries. Must not be called during a pause.
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
  await first.modify(readData('replica.ldif', { id: 1, password }));
  await second.modify(readData('replica.ldif', { id: 2, password }));
  await first.modify(agreementWith(second, password));
  // The initial refresh is a separate change: as part of the agreement, it
  // would run again whenever the agreement is re-enabled.
  await first.modify(replace(AGREEMENT, 'nsds5BeginReplicaRefresh', 'start'));
  await untilFilled(first);
  await second.modify(agreementWith(first, password));
  const setEnabled = async (value: 'on' | 'off') => {
    for (const realm of [first, second]) {
      await realm.modify(replace(AGREEMENT, 'nsds5ReplicaEnabled', value));
    }
  };
  const caughtUp = async () => {
    await sendMarker(first, second);
    await sendMarker(second, first);
    // The changes that the plugins of the first server have made for those of
    // the second one, which are not replicated.
    await sendMarker(first, second);
    // A server repeats a change that failed only after it has sent later ones.
    while (!(await haveSameEntries(first, second))) {
      await sleep(50);
    }
  };
  await caughtUp();
  return {
    pause: () => setEnabled('off'),
    resume: () => setEnabled('on'),
    caughtUp,
  };
}

function agreementWith({ ldapUrl }: Realm, password: string): string {
  const { port } = new URL(ldapUrl);
  return readData('agreement.ldif', { port, password });
}

function replace(dn: string, attribute: string, value: string): string {
  return `dn: ${dn}
changetype: modify
replace: ${attribute}
${attribute}: ${value}
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

async function haveSameEntries(first: Realm, second: Realm): Promise<boolean> {
  const [entries, others] = await Promise.all([
    readReplicated(first),
    readReplicated(second),
  ]);
  return isDeepStrictEqual(entries, others);
}

/** Changes an entry of one server and waits until the other one has the change. */
async function sendMarker(supplier: Realm, consumer: Realm): Promise<void> {
  const marker = randomUUID();
  await supplier.modify(replace(BASE_DN, 'description', marker));
  let descriptions: string[] = [];
  while (!descriptions.includes(marker)) {
    await sleep(50);
    descriptions = await readValues(consumer, BASE_DN, 'description');
  }
}
