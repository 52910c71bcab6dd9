import { startRealm, type Realm } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { BindLog } from './__testUtils__/BindLog';
import { eventually } from './__testUtils__/eventually';
import { FaultProxy } from './__testUtils__/FaultProxy';
import type { Fault } from './__testUtils__/FaultyPipe';
import { TokenClient } from './__testUtils__/TokenClient';
import {
  ldapOf,
  startGateway,
  type Gateway,
} from './__testUtils__/startGateway';
import { startTlsFront } from './__testUtils__/startTlsFront';
import { SteadyLoad, type Tally } from './__testUtils__/SteadyLoad';
import { TestAuthority } from './__testUtils__/TestAuthority';

jest.setTimeout(180_000);

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
let client: TokenClient;

/** The gateway knows two servers, and both are the realm's. */
beforeAll(async () => {
  realm = await startRealm();
  proxies = await Promise.all([
    FaultProxy.start(realm.ldapsUrl),
    FaultProxy.start(realm.ldapsUrl),
  ]);
  gateway = await startGateway({
    realm,
    directory: {
      // A copy would answer while its servers are in trouble.
      reads: 'direct',
      portalUsers,
      ldap: {
        ...ldapOf(realm),
        servers: proxies.map(({ port }) => `ldaps://localhost:${port}`),
      },
    },
  });
  client = await TokenClient.signIn(gateway);
});
afterEach(async () => {
  setFault({ kind: 'pass' });
  await eventually(allAreAnswered);
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

async function allAreAnswered(): Promise<void> {
  for (const path of PATHS) {
    expect([path, (await client.ask(path)).status]).toEqual([path, 200]);
  }
}

/** What a steady load sees of some trouble. */
async function during(trouble: () => Promise<unknown>): Promise<Tally> {
  await eventually(allAreAnswered);
  const load = await SteadyLoad.start(client, PATHS);
  try {
    await trouble();
  } finally {
    const tally = await load.stop();
    expect(tally.wrong).toEqual([]);
    expect(gateway.alive()).toBe(true);
  }
  return load.stop();
}

const unanswered = ({ answers, statuses }: Tally) => answers - statuses[200];

it('a server killed in flight leaves its questions to the next one', async () => {
  const tally = await during(async () => {
    for (const proxy of proxies) {
      await sleep(500);
      await proxy.refuse();
      proxy.reset();
      await sleep(500);
      await proxy.accept();
      await sleep(1500);
    }
  });
  expect(unanswered(tally)).toBe(0);
});

it('a directory that restarts is away, and never read anonymously', async () => {
  const log = await BindLog.from(realm);
  const tally = await during(async () => {
    await sleep(300);
    await realm.directory.kill();
    await sleep(300);
    await realm.directory.start();
    await eventually(allAreAnswered);
    await realm.directory.stop();
    await realm.directory.start();
    await eventually(allAreAnswered);
  });
  // One that is starting may be too slow.
  const { 200: _answered, 503: away, 504: _slow, ...others } = tally.statuses;
  expect(away).toBeGreaterThan(0);
  expect(others).toEqual({});
  // The server writes its log after its answers.
  await eventually(async () => {
    const { searches } = await log.read();
    expect(searches.length).toBeGreaterThan(100);
    for (const { boundAs } of searches) {
      expect(boundAs).toBe(realm.bindDn);
    }
  });
});

it('a directory that is 300 ms slower is waited for', async () => {
  setFault({ kind: 'delay', ms: 300 });
  await expect(allAreAnswered()).resolves.toBeUndefined();
});

it('a directory that is slower than the deadline is 504', async () => {
  setFault({ kind: 'delay', ms: 7000 });
  expect((await client.ask('/v1/users/bob/')).status).toBe(504);
});

it('a directory that is stopped is 504 or 503, and back when it goes on', async () => {
  await realm.directory.pause();
  try {
    expect((await client.ask('/v1/users/bob/')).status).toBe(504);
    await eventually(async () =>
      expect((await client.ask('/v1/users/bob/')).status).toBe(503),
    );
  } finally {
    await realm.directory.resume();
  }
});

it('connections that are reset ten times a second are answered on', async () => {
  const tally = await during(async () => {
    const ends = proxies.map(proxy => proxy.resetEvery(100));
    await sleep(20_000);
    ends.forEach(end => end());
  });
  expect(tally.answers).toBeGreaterThan(300);
  expect(unanswered(tally) / tally.answers).toBeLessThan(0.01);
});

it.each<[string, (n: number) => Fault]>([
  ['cut off', n => ({ kind: 'truncate', after: 3000 + 997 * n })],
  [
    'corrupted',
    n => ({
      kind: 'change',
      change: (bytes, at) => {
        const changed = Buffer.from(bytes);
        // Far enough for a handshake, another byte of each connection.
        const offset = 3000 + 997 * n - at;
        if (offset >= 0 && offset < changed.length) {
          changed[offset] ^= 1 << n % 8;
        }
        return changed;
      },
    }),
  ],
])('streams that are %s never give a partial answer', async (_how, fault) => {
  const tally = await during(async () => {
    for (let n = 0; n < 20; n++) {
      setFault(fault(n));
      await sleep(200);
    }
  });
  expect(tally.answers).toBeGreaterThan(100);
});

it('without any server it is 503 without a try to connect, and back by itself', async () => {
  const times = (what: RegExp) => [...gateway.log().matchAll(what)].length;
  const outOfUse = () => times(/is out of use/g);
  await eventually(() => expect(times(/is back in use/g)).toBe(outOfUse()));
  const before = outOfUse();
  for (const proxy of proxies) {
    proxy.both = { kind: 'hang' };
    proxy.reset();
  }
  await eventually(async () => {
    expect((await client.ask('/v1/users/bob/')).status).toBe(503);
    expect(outOfUse()).toBe(before + 2);
  });
  const accepted = () => proxies[0].accepted + proxies[1].accepted;
  const tries = accepted();
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => client.ask('/v1/users/bob/')),
  );
  for (const { status } of answers) {
    expect(status).toBe(503);
  }
  // Those of the background, once in a while.
  expect(accepted() - tries).toBeLessThan(20);
  for (const proxy of proxies) {
    proxy.both = { kind: 'pass' };
  }
  await eventually(allAreAnswered);
});

it('servers whose certificates are not good are 503, and the log says why', async () => {
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
    directory: { portalUsers, ldap: { ...ldapOf(realm), servers, caFile } },
  });
  try {
    const asking = await TokenClient.signIn(distrustful);
    await eventually(async () => {
      expect((await asking.ask('/v1/me/')).status).toBe(503);
      expect(distrustful.log()).toMatch(/out of use.*expired/);
      expect(distrustful.log()).toMatch(/out of use.*altnames/);
      expect(distrustful.log()).toMatch(/out of use.*unable to verify/);
    });
  } finally {
    await distrustful.stop();
    fronts.forEach(front => front.stop());
    await known.remove();
    await unknown.remove();
  }
});
