import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addFasUser,
  eventually,
  renamed,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { LdapReplicaSource } from '../LdapReplicaSource';

jest.setTimeout(600_000);

/** Container of preserved users. */
const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';

let realm: Realm;
let opened: OpenReplica | undefined;

beforeEach(async () => {
  realm = await startRealm();
});
afterEach(async () => {
  jest.restoreAllMocks();
  opened?.close();
  opened = undefined;
  await realm?.stop();
});

const dnOf = (username: string) =>
  `uid=${username},cn=users,cn=accounts,${realm.baseDn}`;
const keys = () => [...opened!.replica.tables.users.served.keys()].join('\n');
const warnings = () =>
  opened!.logger.lines.filter(line => line.startsWith('warn'));

/** Adds and changes users, and waits for each change. */
async function expectToFollowWrites(): Promise<void> {
  await realm.modify(`${addFasUser('first')}\n${addFasUser('second')}`);
  await eventually(() => expect(keys()).toMatch(/uid=first,[^]*uid=second,/));
  await realm.modify(
    `dn: ${dnOf('alice')}\nchangetype: modify\nreplace: sn\nsn: Changed\n`,
  );
  await eventually(() =>
    expect(
      opened!.replica.tables.users.served.get(dnOf('alice'))?.record.surname,
    ).toBe('Changed'),
  );
}

it('finds writes, and preserved and deleted members, without comparing stable IDs', async () => {
  // Comparisons do not end, so that they cannot find a change.
  const neverEnds = new Promise<never>(() => {});
  jest.spyOn(LdapReplicaSource.prototype, 'ids').mockReturnValue(neverEnds);
  opened = await openReplica({ realm });
  await expectToFollowWrites();
  const { graph } = opened.replica.tables.groups;
  for (const member of ['bob', 'dave']) {
    expect([...graph.directGroupsOf(dnOf(member))]).not.toEqual([]);
  }
  await realm.modify(
    `dn: ${dnOf(
      'bob',
    )}\nchangetype: modrdn\nnewrdn: uid=bob\ndeleteoldrdn: 0\nnewsuperior: ${DELETED_USERS}\n`,
  );
  await eventually(() => expect(keys()).not.toContain('uid=bob,'));
  await realm.modify(`dn: ${dnOf('dave')}\nchangetype: delete\n`);
  await eventually(() => expect(keys()).not.toContain('uid=dave,'));
});

it('falls back to full syncs when the server has no USN plugin', async () => {
  await realm.modify(
    'dn: cn=USN,cn=plugins,cn=config\nchangetype: modify\nreplace: nsslapd-pluginEnabled\nnsslapd-pluginEnabled: off\n',
  );
  await realm.directory.stop();
  await realm.directory.start();
  opened = await openReplica({ realm, syncIntervalMs: 1000 });
  await expectToFollowWrites();
  await realm.modify(renamed(dnOf('first'), 'uid=third'));
  await eventually(() => {
    expect(keys()).toContain('uid=third,');
    expect(keys()).not.toContain('uid=first,');
  });
  await realm.modify(`dn: ${dnOf('second')}\nchangetype: delete\n`);
  await eventually(() => expect(keys()).not.toContain('uid=second,'));
  expect(opened.replica.mode).toBe('full');
  expect(opened.replica.isServing).toBe(true);
  expect(warnings()).toEqual([
    expect.stringContaining('cannot search for USNs'),
  ]);
});
