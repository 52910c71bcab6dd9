import { startRealm, type Realm } from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  AccessLog,
  type Fault,
  FaultProxy,
  ldapOf,
  startTlsFront,
  TestAuthority,
} from '@directory-gateway/ldap/testUtils';
import { exportForAll } from './__testUtils__/gateway/directoryConfig';
import { HttpClient } from './__testUtils__/gateway/HttpClient';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';
import { SteadyLoad, type Tally } from './__testUtils__/gateway/SteadyLoad';

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

it('reads while the directory restarts, and never anonymously', async () => {
  const log = await AccessLog.from(realm);
  const tally = await during(async load => {
    await load.progress(100);
    await realm.directory.kill();
    await load.progress(40);
    await realm.directory.start();
    await eventually(expectAllServed);
    await realm.directory.stop();
    await realm.directory.start();
    await eventually(expectAllServed);
  });
  expect(failed(tally)).toBe(0);
  // The server writes its log after its responses.
  await eventually(async () => {
    const { searches } = await log.read();
    expect(searches.length).toBeGreaterThan(20);
    for (const { boundAs } of searches) {
      expect(boundAs).toBe(realm.bindDn);
    }
  });
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

it.each<[string, (n: number) => Fault]>([
  ['cut off', n => ({ kind: 'truncate', after: 3000 + 997 * n })],
  [
    'corrupted',
    n => ({
      kind: 'change',
      change: (bytes, at) => {
        const changed = Buffer.from(bytes);
        // Beyond the handshake, at another byte in each round.
        const offset = 3000 + 997 * n - at;
        if (offset >= 0 && offset < changed.length) {
          changed[offset] ^= 1 << (n % 8);
        }
        return changed;
      },
    }),
  ],
])('reads while streams from the directory are %s', async (_how, fault) => {
  const tally = await during(async load => {
    for (let n = 0; n < 20; n++) {
      setFault(fault(n));
      proxies.forEach(proxy => proxy.reset());
      await load.progress(15);
    }
  });
  expect(failed(tally)).toBe(0);
});

it('returns 503 without connection attempts for servers with bad certificates', async () => {
  const [known, unknown] = [
    await TestAuthority.create(),
    await TestAuthority.create(),
  ];
  const fronts = await Promise.all(
    [
      await known.issue({ host: 'localhost', days: -1 }),
      await known.issue({ host: 'ldap.example.test', days: 1 }),
      await unknown.issue({ host: 'localhost', days: 1 }),
    ].map(certificate => startTlsFront(certificate, realm.ldapUrl)),
  );
  const servers = fronts.map(({ url }) => url);
  const { caFile } = known;
  const distrustful = await startGateway({
    realm,
    until: 'started',
    directory: {
      portalUsers,
      ldap: {
        ...ldapOf(realm),
        servers,
        caFile,
      },
    },
  });
  try {
    const guest = await HttpClient.asGuest(distrustful);
    await eventually(async () => {
      expect((await guest.request('/v1/me/')).status).toBe(503);
      expect(distrustful.log()).toMatch(/excluded.*expired/);
      expect(distrustful.log()).toMatch(/excluded.*altnames/);
      expect(distrustful.log()).toMatch(/excluded.*unable to verify/);
    });
    const attempts = () =>
      fronts.reduce((sum, { accepted }) => sum + accepted(), 0);
    const before = attempts();
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => guest.request('/v1/me/')),
    );
    expect(responses.map(({ status }) => status)).toEqual(
      responses.map(() => 503),
    );
    // Only probes in the background connect, with pauses of up to a second.
    expect(attempts()).toBeLessThan(before + 100);
  } finally {
    await distrustful.stop();
    fronts.forEach(front => front.stop());
    await known.remove();
    await unknown.remove();
  }
});
