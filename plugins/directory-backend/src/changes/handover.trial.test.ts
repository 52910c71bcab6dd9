import type { Realm, Replication } from '@directory-gateway/realm';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import assert from 'node:assert';
import { PrincipalSet } from '@directory-gateway/directory-core';
import {
  addFasGroup,
  addFasUser,
  eventually,
  groupDn,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import {
  openReplica,
  type OpenReplica,
  TwoServers,
} from '@directory-gateway/ldap/testUtils';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { ChangeLog } from './ChangeLog';
import { ChangeWriter } from './ChangeWriter';
import { publicValuesFor } from './createChanges';

/** Handovers of the lease to another process. */
const HANDOVERS = 20;

jest.setTimeout(600_000 + HANDOVERS * 30_000);

const database = withDatabase();

let pair: TwoServers;
let replication: Replication;
let log: ChangeLog;
const replicas: OpenReplica[] = [];

beforeAll(async () => {
  pair = await TwoServers.start();
  replication = await pair.replicate();
});
afterAll(async () => {
  replicas.forEach(replica => replica.close());
  await pair?.stop();
});

async function followServer(realm: Realm): Promise<OpenReplica> {
  const opened = await openReplica({ realm });
  replicas.push(opened);
  return opened;
}

/** Starts to write the log, and waits until all entries are compared. */
async function startWriter({ replica }: OpenReplica): Promise<ChangeWriter> {
  const writer = new ChangeWriter({
    log,
    tables: replica.tables,
    compare: replica.compare,
    publicValues: publicValuesFor({
      hidden: new Set(),
      trustedReaders: new PrincipalSet({}),
    }),
    retentionMs: 90 * 24 * 60 * 60_000,
    logger: new RecordingLogger(),
  });
  replica.observe(writer);
  await eventually(async () => assert((await log.state()).isWritten));
  await writer.idle();
  return writer;
}

/** Returns what the log is about. */
function contentOf({ replica: { tables } }: OpenReplica) {
  const { users, groups } = tables;
  return {
    users: users.served.inOrder.map(({ name, record }) => [
      name,
      record.locked,
    ]),
    groups: groups.served.inOrder.map(({ name, key }) => [
      name,
      groups.graph.directMembersOf(key).toSorted(),
    ]),
  };
}

const modified = (dn: string, change: string, attribute: string, to: string) =>
  `dn: ${dn}\nchangetype: modify\n${change}: ${attribute}\n${attribute}: ${to}\n\n`;
const inCrew = (change: 'add' | 'delete', username: string) =>
  modified(groupDn('crew'), change, 'member', userDn(username));
const setLock = (username: string, to: 'TRUE' | 'FALSE') =>
  modified(userDn(username), 'replace', 'nsAccountLock', to);

/**
 * Changes of a round; the next round makes the opposite ones, so that all that
 * the lagging server lacks is recent, however long the trial takes.
 */
function changesIn(round: number) {
  const isEven = round % 2 === 0;
  const added = `added.${round}`;
  return {
    ldif: [
      addFasUser(added),
      addFasGroup(added, [userDn(added)]),
      inCrew(isEven ? 'add' : 'delete', 'joins'),
      inCrew(isEven ? 'delete' : 'add', 'leaves'),
      setLock('unlocks', isEven ? 'FALSE' : 'TRUE'),
      setLock('locks', isEven ? 'TRUE' : 'FALSE'),
      ...[groupDn, userDn].map(
        dnOf => `dn: ${dnOf(`added.${round - 1}`)}\nchangetype: delete\n\n`,
      ),
      renamed(userDn(`name.${round}`), `uid=name.${round + 1}`),
    ].join(''),
    logged: [
      `user_created ${added}`,
      `group_created ${added}`,
      `member_added ${added} ${added}`,
      `member_${isEven ? 'added' : 'removed'} crew joins`,
      `member_${isEven ? 'removed' : 'added'} crew leaves`,
      `user_${isEven ? 'unlocked' : 'locked'} unlocks`,
      `user_${isEven ? 'locked' : 'unlocked'} locks`,
      `user_deleted added.${round - 1}`,
      `group_deleted added.${round - 1}`,
      `user_renamed name.${round + 1}`,
    ].sort(),
  };
}

async function textsAfter(id: number): Promise<readonly string[]> {
  const changes = await log.readAfter(id, 100_000);
  return changes
    .map(({ kind, name, member_name }) =>
      [kind, name, member_name].filter(Boolean).join(' '),
    )
    .sort();
}

it(`reverses no change in ${HANDOVERS} handovers to and from a server that lags behind`, async () => {
  log = new ChangeLog({
    database: await openDatabase(database),
    definition: 'test',
  });
  await pair.preferred.modify(
    [
      ...['joins', 'leaves', 'locks', 'name.0', 'added.-1'].map(uid =>
        addFasUser(uid),
      ),
      addFasUser('unlocks', true),
      addFasGroup('added.-1', [userDn('added.-1')]),
      addFasGroup('crew', [userDn('leaves')]),
    ].join(''),
  );
  const current = await followServer(pair.preferred);
  const lagging = await followServer(pair.other);
  const caughtUp = async () => {
    await replication.caughtUp();
    // A server retries a change that failed after later ones.
    await eventually(() =>
      expect(contentOf(lagging)).toEqual(contentOf(current)),
    );
  };
  await caughtUp();
  await replication.pause();
  let writer = await startWriter(current);
  let last = 0;
  const expectLogged = async (expected: readonly string[]) => {
    expect(await textsAfter(last)).toEqual(expected);
    ({ last } = await log.state());
  };
  const handOver = async (to: OpenReplica) => {
    await writer.stop();
    writer = await startWriter(to);
    await expectLogged([]);
  };
  for (let round = 0; round < HANDOVERS / 2; round++) {
    const { ldif, logged } = changesIn(round);
    await pair.preferred.modify(ldif);
    await eventually(() => expectLogged(logged));
    await handOver(lagging);
    await handOver(current);
  }
  await replication.resume();
  await caughtUp();
  await handOver(lagging);
});
