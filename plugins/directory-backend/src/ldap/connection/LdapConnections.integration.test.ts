import { ConfigReader } from '@backstage/config';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { eventually } from '../../__testUtils__/eventually';
import { FaultProxy } from '../../__testUtils__/ldap/FaultProxy';
import { personSearch } from '../../__testUtils__/ldap/openLdap';
import { ldapOf } from '../../__testUtils__/gateway/startGateway';
import { readLdapConfig } from './LdapConfig';
import { LdapConnections } from './LdapConnections';
import { LdapMetrics } from './LdapMetrics';

jest.setTimeout(180_000);

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
    new ConfigReader({ ...ldapOf(realm), servers: [url], ...bounds }),
  );
  connections = new LdapConnections({
    url,
    config,
    metrics: new LdapMetrics(url),
    onFailure: error => failures.push(error),
  });
}

/** Searches once. Resolves with the number of searches pending before it. */
const search = () =>
  connections.use(async connection => {
    const before = connection.pending;
    const entries = await connection.search(personSearch(realm, 'alice'), {
      timeoutMs: 60_000,
    });
    expect(entries).toHaveLength(1);
    return before;
  });

const searchAtOnce = (times: number) =>
  Promise.all(Array.from({ length: times }, search));

it.each([1, 3])(
  'sends at most %d concurrent searches on a connection',
  async pipelining => {
    start({ maxConnections: 4, pipelining });
    let most = 0;
    // A fast server may respond to all searches before the fourth connection is
    // open.
    await eventually(async () => {
      most = Math.max(most, ...(await searchAtOnce(40)));
      expect([proxy.accepted, proxy.open]).toEqual([4, 4]);
    });
    for (let round = 0; round < 5; round++) {
      most = Math.max(most, ...(await searchAtOnce(40)));
    }
    expect(most).toBe(pipelining - 1);
    expect([proxy.accepted, proxy.open]).toEqual([4, 4]);
  },
);

it('opens no more connections than needed', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  for (let round = 0; round < 10; round++) {
    await search();
  }
  expect(proxy.accepted).toBe(1);
});

it('uses open connections when no more can be opened', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  await search();
  await proxy.refuse();
  await expect(searchAtOnce(20)).resolves.toHaveLength(20);
  expect(failures).not.toHaveLength(0);
});

it('rejects when no connection can be opened', async () => {
  start({ maxConnections: 4, pipelining: 1 });
  await proxy.refuse();
  for (const result of await Promise.allSettled([
    search(),
    search(),
    search(),
  ])) {
    expect(result).toMatchObject({
      reason: { name: 'DirectoryUnavailableError' },
    });
  }
});

it('opens another connection for waiting searches when one is lost', async () => {
  start({ maxConnections: 1, pipelining: 1 });
  await search();
  proxy.toClient = { kind: 'hang' };
  const lost = search();
  const waiting = searchAtOnce(5);
  proxy.toClient = { kind: 'pass' };
  proxy.reset();
  await expect(lost).rejects.toMatchObject({
    name: 'DirectoryUnavailableError',
  });
  await expect(waiting).resolves.toHaveLength(5);
});
