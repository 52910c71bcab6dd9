import {
  allowReadingRuv,
  enableReplication,
  REPLICA_DN,
} from './replication/enableReplication';
import type { Replication } from './replication/enableReplication';
import type { LdifEntry } from './ldif/LdifEntry';
import type { Realm } from './Realm';
import { startRealm } from './startRealm';
import { ldapsearch, type BindIdentity } from './replication/ldapsearch';

jest.setTimeout(600_000);

const PEOPLE = 'cn=users,cn=accounts,dc=example,dc=test';

let supplier: Realm;
let consumer: Realm;
let replication: Replication;

beforeAll(async () => {
  [supplier, consumer] = await Promise.all([startRealm(), startRealm()]);
  await consumer.modify(`dn: uid=bob,${PEOPLE}\nchangetype: delete\n`);
  replication = await enableReplication({ supplier, consumer });
});

afterAll(async () => {
  await supplier?.stop();
  await consumer?.stop();
});

const root = (realm: Realm): BindIdentity => ({
  dn: realm.rootDn,
  passwordFile: realm.rootPasswordFile,
});
const portal = (realm: Realm): BindIdentity => ({
  dn: realm.bindDn,
  passwordFile: realm.bindPasswordFile,
});

async function find(realm: Realm, uid: string): Promise<LdifEntry | undefined> {
  const [entry] = await ldapsearch(realm, {
    as: portal(realm),
    filter: `(uid=${uid})`,
    attributes: ['title', 'entryusn', 'memberOf'],
  });
  return entry;
}

const setTitle = (uid: string, title: string) =>
  supplier.modify(
    `dn: uid=${uid},${PEOPLE}\nchangetype: modify\nreplace: title\ntitle: ${title}\n`,
  );

async function readRuv(realm: Realm, as: BindIdentity): Promise<string[]> {
  const entries = await ldapsearch(realm, {
    as,
    base: REPLICA_DN,
    options: ['-s', 'base'],
    attributes: ['nsds50ruv'],
  });
  return entries.flatMap(entry => entry.texts('nsds50ruv'));
}

it("fills the consumer from the supplier, with the consumer's own USNs", async () => {
  const bob = await find(consumer, 'bob');
  expect(bob?.texts('memberOf').sort()).toEqual(
    (await find(supplier, 'bob'))?.texts('memberOf').sort(),
  );
  const missing = await ldapsearch(consumer, {
    as: root(consumer),
    base: PEOPLE,
    filter: '(!(entryusn=*))',
    attributes: ['1.1'],
  });
  expect(missing).toEqual([]);
});

it('replicates changes, deletions and memberships', async () => {
  await setTitle('alice', 'replicated');
  await supplier.modify(`dn: uid=nofas,${PEOPLE}
changetype: delete

dn: cn=packager,cn=groups,cn=accounts,${supplier.baseDn}
changetype: modify
add: member
member: uid=admin,${PEOPLE}
`);
  await replication.caughtUp();
  expect((await find(consumer, 'alice'))?.texts('title')).toEqual([
    'replicated',
  ]);
  expect(await find(consumer, 'nofas')).toBeUndefined();
  expect((await find(consumer, 'admin'))?.texts('memberOf')).toContain(
    `cn=packager,cn=groups,cn=accounts,${supplier.baseDn}`,
  );
});

it('sends changes made during a pause only when it ends', async () => {
  await replication.pause();
  await setTitle('alice', 'during the pause');
  expect((await find(consumer, 'alice'))?.texts('title')).toEqual([
    'replicated',
  ]);
  await replication.resume();
  await replication.caughtUp();
  expect((await find(consumer, 'alice'))?.texts('title')).toEqual([
    'during the pause',
  ]);
});

it('continues after either server is restarted', async () => {
  await consumer.directory.stop();
  await setTitle('alice', 'without the consumer');
  await consumer.directory.start();
  await replication.caughtUp();
  expect((await find(consumer, 'alice'))?.texts('title')).toEqual([
    'without the consumer',
  ]);
  await supplier.directory.kill();
  await supplier.directory.start();
  await setTitle('alice', 'after the supplier');
  await replication.caughtUp();
  expect((await find(consumer, 'alice'))?.texts('title')).toEqual([
    'after the supplier',
  ]);
});

it('shows the replica update vector only to an account with the permission', async () => {
  const ruv = await readRuv(consumer, root(consumer));
  expect(ruv).toContainEqual(expect.stringMatching(/^\{replica 1 ldap:/));
  expect(await readRuv(consumer, portal(consumer))).toEqual([]);
  await allowReadingRuv(consumer);
  expect(await readRuv(consumer, portal(consumer))).toEqual(ruv);
});
