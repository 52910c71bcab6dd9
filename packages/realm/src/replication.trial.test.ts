import {
  ldapsearch,
  portal,
  root,
  type FoundEntry,
} from './__testUtils__/ldapsearch';
import { enableReplication, type Replication } from './enableReplication';
import { startRealm, type Realm } from './startRealm';

jest.setTimeout(600_000);

const PEOPLE = 'cn=users,cn=accounts,dc=example,dc=test';

let first: Realm;
let second: Realm;
let replication: Replication;

beforeAll(async () => {
  [first, second] = await Promise.all([startRealm(), startRealm()]);
  await second.modify(`dn: uid=bob,${PEOPLE}\nchangetype: delete\n`);
  replication = await enableReplication({ first, second });
});

afterAll(async () => {
  await first?.stop();
  await second?.stop();
});

async function find(
  realm: Realm,
  uid: string,
): Promise<FoundEntry | undefined> {
  const [entry] = await ldapsearch(realm, {
    as: portal(realm),
    filter: `(uid=${uid})`,
    attributes: ['title', 'entryusn', 'memberOf'],
  });
  return entry;
}

const setTitle = (uid: string, title: string, realm = first) =>
  realm.modify(
    `dn: uid=${uid},${PEOPLE}\nchangetype: modify\nreplace: title\ntitle: ${title}\n`,
  );

it("fills the second server from the first, with the second server's own USNs", async () => {
  const bob = await find(second, 'bob');
  expect(bob?.memberOf.toSorted()).toEqual(
    (await find(first, 'bob'))?.memberOf.toSorted(),
  );
  const missing = await ldapsearch(second, {
    as: root(second),
    base: PEOPLE,
    filter: '(!(entryusn=*))',
    attributes: ['1.1'],
  });
  expect(missing).toEqual([]);
});

it('replicates changes, deletions and memberships', async () => {
  await setTitle('alice', 'replicated');
  await first.modify(`dn: uid=nofas,${PEOPLE}
changetype: delete

dn: cn=packager,cn=groups,cn=accounts,${first.baseDn}
changetype: modify
add: member
member: uid=admin,${PEOPLE}
`);
  await replication.caughtUp();
  expect((await find(second, 'alice'))?.title).toEqual(['replicated']);
  expect(await find(second, 'nofas')).toBeUndefined();
  expect((await find(second, 'admin'))?.memberOf).toContain(
    `cn=packager,cn=groups,cn=accounts,${first.baseDn}`,
  );
});

it('sends changes made during a pause only when it ends', async () => {
  await replication.pause();
  await setTitle('alice', 'during the pause');
  expect((await find(second, 'alice'))?.title).toEqual(['replicated']);
  await replication.resume();
  await replication.caughtUp();
  expect((await find(second, 'alice'))?.title).toEqual(['during the pause']);
});

it('continues after either server is restarted', async () => {
  await second.directory.stop();
  await setTitle('alice', 'without the second server');
  await second.directory.start();
  await replication.caughtUp();
  expect((await find(second, 'alice'))?.title).toEqual([
    'without the second server',
  ]);
  await first.directory.kill();
  await first.directory.start();
  await setTitle('alice', 'from the second server', second);
  await replication.caughtUp();
  expect((await find(first, 'alice'))?.title).toEqual([
    'from the second server',
  ]);
});
