import { ConfigReader } from '@backstage/config';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import { personSearch } from '../__testUtils__/startPool';
import { ldapOf } from '../__testUtils__/startGateway';
import { readLdapConfig } from './LdapConfig';
import { LdapConnections } from './LdapConnections';
import { LdapMetrics } from './LdapMetrics';
import { readEndpoint } from './readEndpoint';

jest.setTimeout(60_000);

let realm: Realm;
let proxy: FaultProxy;
let connections: LdapConnections;
let failures: unknown[];

beforeAll(async () => {
  realm = await startRealm();
});
beforeEach(async () => {
  proxy = await FaultProxy.start(realm.ldapsUrl);
  failures = [];
});
afterEach(async () => {
  connections?.close();
  await proxy.stop();
});
afterAll(() => realm?.stop());

function start(bounds: { maxConnections: number; pipelining: number }): void {
  const url = `ldaps://localhost:${proxy.port}`;
  const config = readLdapConfig(
    new ConfigReader({ ...ldapOf(realm), servers: [url] }),
  );
  connections = new LdapConnections({
    ...bounds,
    url,
    endpoint: () => readEndpoint(url, config),
    metrics: new LdapMetrics(url),
    onFailure: error => failures.push(error),
  });
}

/** Asks, and resolves with how many others were under way on its connection. */
const ask = () =>
  connections.use(async connection => {
    const before = connection.pending;
    const search = personSearch(realm, 'alice');
    const entries = await connection.search(search, { timeoutMs: 5000 });
    expect(entries).toHaveLength(1);
    return before;
  });

const askAtOnce = (times: number) =>
  Promise.all(Array.from({ length: times }, ask));

it.each([1, 3])(
  'has %d searches under way on a connection at most',
  async pipelining => {
    start({ maxConnections: 4, pipelining });
    for (let round = 0; round < 5; round++) {
      const before = await askAtOnce(40);
      expect(Math.max(...before)).toBe(pipelining - 1);
    }
    expect([proxy.accepted, proxy.open]).toEqual([4, 4]);
  },
);

it('opens no more than are needed', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  for (let round = 0; round < 10; round++) {
    await ask();
  }
  expect(proxy.accepted).toBe(1);
});

it('goes on with those it has when no other can be opened', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  await ask();
  await proxy.refuse();
  await expect(askAtOnce(20)).resolves.toHaveLength(20);
  expect(failures).not.toHaveLength(0);
});

it('lets nobody wait when none can be opened at all', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  await proxy.refuse();
  for (const answer of await Promise.allSettled([ask(), ask(), ask()])) {
    expect(answer).toMatchObject({
      reason: { name: 'DirectoryUnavailableError' },
    });
  }
});

it('lets those who wait for room know that a connection is lost', async () => {
  start({ maxConnections: 1, pipelining: 1 });
  await ask();
  proxy.toClient = { kind: 'hang' };
  const lost = ask();
  const waiting = askAtOnce(5);
  proxy.toClient = { kind: 'pass' };
  proxy.reset();
  await expect(lost).rejects.toMatchObject({
    name: 'DirectoryUnavailableError',
  });
  await expect(waiting).resolves.toHaveLength(5);
});
