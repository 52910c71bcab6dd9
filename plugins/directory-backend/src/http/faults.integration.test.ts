import { startRealm, type Realm } from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  type Fault,
  FaultProxy,
  ldapOf,
} from '@directory-gateway/ldap/testUtils';
import { exportForAll } from '../__testUtils__/gateway/directoryConfig';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';
import { SteadyLoad, type Tally } from '../__testUtils__/gateway/SteadyLoad';

jest.setTimeout(600_000);

const PATHS = [
  '/v1/me/',
  '/v1/users/bob/',
  '/v1/users/?page_size=40&page_number=3',
  '/v1/users/alice/groups/',
  '/v1/users/alice/agreements/',
  '/v1/groups/?page_size=100',
  '/v1/groups/packager/members/',
  '/v1/groups/packager/is-member/alice',
  '/v1/search/users/?email=alice@example.test',
  '/v1/users/alice/memberships/',
  '/v1/groups/packager/members/?q=ali&membership=direct',
  '/v1/me/colleagues/',
];

const portalUsers = { namespace: 'default', username: 'entityName' };

let realm: Realm;
let proxies: readonly FaultProxy[];
let gateway: Gateway;
let client: HttpClient;

/** The gateway has two servers, which are proxies of the same directory. */
beforeAll(async () => {
  realm = await startRealm();
  proxies = await Promise.all([
    FaultProxy.start(realm.ldapsUrl),
    FaultProxy.start(realm.ldapsUrl),
  ]);
  gateway = await startGateway({
    realm,
    directory: {
      access: exportForAll,
      portalUsers,
      ldap: {
        ...ldapOf(realm),
        servers: proxies.map(({ port }) => `ldaps://localhost:${port}`),
      },
    },
  });
  client = await HttpClient.asGuest(gateway);
});
afterEach(async () => {
  setFault({ kind: 'pass' });
  await eventually(expectAllServed);
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all((proxies ?? []).map(proxy => proxy.stop()));
  await realm?.stop();
});

function setFault(fault: Fault): void {
  for (const proxy of proxies) {
    proxy.toClient = fault;
  }
}

async function expectAllServed(): Promise<void> {
  for (const path of PATHS) {
    expect([path, (await client.request(path)).status]).toEqual([path, 200]);
  }
}

/** Runs a steady load during a fault. */
async function during(
  cause: (load: SteadyLoad) => Promise<unknown>,
): Promise<Tally> {
  await eventually(expectAllServed);
  const load = await SteadyLoad.start([client], PATHS);
  try {
    await cause(load);
  } finally {
    const [tally] = await load.stop();
    expect(tally.wrong).toEqual([]);
    expect(gateway.alive()).toBe(true);
  }
  const [tally] = await load.stop();
  return tally;
}

const failed = ({ responses, statuses }: Tally) => responses - statuses[200];

const timesLogged = (what: RegExp) => [...gateway.log().matchAll(what)].length;
const timesExcluded = () => timesLogged(/excluded after failures/g);
const timesBackInService = () => timesLogged(/back in service/g);

/** Waits until every server is in service. */
const expectAllInService = () =>
  eventually(() => expect(timesBackInService()).toBe(timesExcluded()));

it('sends the pending queries of a killed server to the next one', async () => {
  await expectAllInService();
  const tally = await during(async load => {
    for (const proxy of proxies) {
      await load.progress(50);
      await proxy.refuse();
      proxy.reset();
      await load.progress(150);
      await proxy.accept();
      await expectAllInService();
    }
  });
  expect(failed(tally)).toBe(0);
});

it('waits for a directory that is 300 ms slower', async () => {
  setFault({ kind: 'delay', ms: 300 });
  const statuses = await Promise.all(
    PATHS.map(async path => [path, (await client.request(path)).status]),
  );
  expect(statuses).toEqual(PATHS.map(path => [path, 200]));
});

it('reads while connections are reset again and again', async () => {
  const tally = await during(async load => {
    // By responses, not by time: some progress between two resets is possible
    // on every machine.
    for (let resets = 0; resets < 60; resets++) {
      await load.progress(13);
      proxies.forEach(proxy => proxy.reset());
    }
  });
  expect(failed(tally)).toBe(0);
});
