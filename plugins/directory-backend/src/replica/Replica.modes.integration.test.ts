import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addFasUser,
  renamed,
} from '../__testUtils__/conformance/changeArbitrary';
import { eventually } from '../__testUtils__/eventually';
import {
  openReplica,
  type OpenReplica,
} from '../__testUtils__/ldap/openReplica';
import { PersistentSearchProxy } from '../__testUtils__/ldap/PersistentSearchProxy';

jest.setTimeout(600_000);

let realm: Realm;
let opened: OpenReplica | undefined;
let proxy: PersistentSearchProxy | undefined;

beforeEach(async () => {
  realm = await startRealm();
});
afterEach(async () => {
  opened?.close();
  proxy?.stop();
  opened = proxy = undefined;
  await realm?.stop();
});

const dnOf = (username: string) =>
  `uid=${username},cn=users,cn=accounts,${realm.baseDn}`;
const keys = () => [...opened!.replica.tables.users.keys()].join('\n');
const warnings = () =>
  opened!.logger.lines.filter(line => line.startsWith('warn'));

/** Adds, renames and deletes users, and waits for each change. */
async function expectToFollowChanges(): Promise<void> {
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
  await realm.modify(renamed(dnOf('first'), 'uid=third'));
  await eventually(() => {
    expect(keys()).toContain('uid=third,');
    expect(keys()).not.toContain('uid=first,');
  });
  await realm.modify(`dn: ${dnOf('second')}\nchangetype: delete\n`);
  await eventually(() => expect(keys()).not.toContain('uid=second,'));
}

it('finds deletions by comparing keys when persistent search is refused', async () => {
  proxy = await PersistentSearchProxy.start(realm.ldapUrl);
  opened = await openReplica({ realm, ldap: { servers: [proxy.url] } });
  await expectToFollowChanges();
  expect(opened.replica.mode).toBe('usn');
  expect(warnings()).toEqual([
    expect.stringContaining('refuses persistent searches'),
  ]);
});

it('falls back to full syncs when the server has no USN plugin', async () => {
  await realm.modify(
    'dn: cn=USN,cn=plugins,cn=config\nchangetype: modify\nreplace: nsslapd-pluginEnabled\nnsslapd-pluginEnabled: off\n',
  );
  await realm.directory.stop();
  await realm.directory.start();
  opened = await openReplica({ realm, syncIntervalMs: 1000 });
  await expectToFollowChanges();
  expect(opened.replica.mode).toBe('full');
  expect(opened.replica.isServing).toBe(true);
  expect(warnings()).toEqual([
    expect.stringContaining('cannot search for USNs'),
  ]);
});
