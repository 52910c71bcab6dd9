import { startRealm, type Realm } from '@directory-gateway/realm';
import type { JsonObject } from '@backstage/types';
import { PersistentSearchControl } from 'ldapts';
import { AccessLog } from '../../__testUtils__/ldap/AccessLog';
import { eventually } from '../../__testUtils__/eventually';
import { FaultProxy } from '../../__testUtils__/ldap/FaultProxy';
import {
  allUsersSearch,
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../../__testUtils__/ldap/openLdap';
import type { Reachability } from '../../directory/errors';

jest.setTimeout(180_000);

/** Longer than a test: no search or connection attempt ends by its deadline. */
const NEVER = { operationTimeout: '1h', connectTimeout: '1h' };

const unavailable = {
  name: 'DirectoryUnavailableError',
  reason: 'unreachable',
};

let realm: Realm;
let first: FaultProxy;
let second: FaultProxy;
let tested: PoolUnderTest;
let changes: Reachability[];

beforeAll(async () => {
  realm = await startRealm();
});
beforeEach(async () => {
  first = await FaultProxy.start(realm.ldapsUrl);
  second = await FaultProxy.start(realm.ldapsUrl);
});
afterEach(async () => {
  tested?.pool.close();
  await first.stop();
  await second.stop();
});
afterAll(() => realm?.stop());

function start(servers: readonly string[], ldap: JsonObject = {}): void {
  tested = startPool({ realm, ldap: { servers: [...servers], ...ldap } });
  changes = [];
  tested.pool.servers.onReachability(reachability =>
    changes.push(reachability),
  );
}

const urlOf = ({ port }: FaultProxy) => `ldaps://localhost:${port}`;
const search = () => tested.search(personSearch(realm, 'alice'));
const searchAll = () => tested.search(allUsersSearch(realm));

describe('a server that stops responding', () => {
  it('leaves its pending searches to the next server', async () => {
    start([first, second].map(urlOf), NEVER);
    const [alice, everyone] = await Promise.all([search(), searchAll()]);
    first.both = { kind: 'hang' };
    const pending = Array.from({ length: 10 }, () =>
      Promise.all([search(), searchAll()]),
    );
    for (const results of await Promise.all(pending)) {
      expect(results).toEqual([alice, everyone]);
    }
    expect(tested.log()).toBe(
      `warn Directory server ${urlOf(
        first,
      )} excluded after failures: DirectoryUnavailableError: Directory server ${urlOf(
        first,
      )} does not respond`,
    );
    expect(changes).toEqual([]);
  });

  it('leaves searches that wait for a connection to the next server', async () => {
    first.both = { kind: 'hang' };
    start([first, second].map(urlOf), {
      ...NEVER,
      maxConnections: 1,
      pipelining: 1,
    });
    for (const entries of await Promise.all([search(), search(), search()])) {
      expect(entries).toHaveLength(1);
    }
  });

  it('is not searched until it responds', async () => {
    start([urlOf(first)], NEVER);
    await search();
    first.both = { kind: 'hang' };
    const pending = await Promise.allSettled([search(), searchAll()]);
    for (const result of pending) {
      expect(result).toMatchObject({ reason: unavailable });
    }
    expect([tested.pool.servers.reachability, changes]).toEqual([
      'unreachable',
      ['unreachable'],
    ]);
    for (let round = 0; round < 20; round++) {
      await expect(search()).rejects.toMatchObject(unavailable);
    }
    first.both = { kind: 'pass' };
    await eventually(search);
    expect([tested.pool.servers.reachability, changes]).toEqual([
      'reachable',
      ['unreachable', 'reachable'],
    ]);
  });

  it('is detected when its process is stopped', async () => {
    start([realm.ldapsUrl], NEVER);
    await search();
    await realm.directory.pause();
    try {
      await expect(search()).rejects.toMatchObject(unavailable);
    } finally {
      await realm.directory.resume();
    }
    await eventually(search);
    expect(changes).toEqual(['unreachable', 'reachable']);
  });
});

describe('a server that responds to probes', () => {
  it('stays in use while a search takes long', async () => {
    start([urlOf(first)], NEVER);
    await search();
    const log = new AccessLog(realm);
    await log.searches();
    // A persistent search does not end.
    const slow = tested.search({
      ...personSearch(realm, 'alice'),
      control: new PersistentSearchControl(),
    });
    let probes = 0;
    await eventually(async () => {
      const searches = await log.searches();
      probes += searches.filter(({ base }) => base === '').length;
      expect(probes).toBeGreaterThanOrEqual(3);
    });
    // The probes share a connection.
    expect(first.accepted).toBe(2);
    expect([tested.log(), changes]).toEqual(['', []]);
    tested.pool.close();
    await expect(slow).rejects.toMatchObject(unavailable);
  });

  it('stays in use when one connection hangs', async () => {
    start([urlOf(first)], { operationTimeout: '2s' });
    await search();
    first.vanish();
    await expect(search()).rejects.toMatchObject({
      name: 'DirectoryTimeoutError',
    });
    await expect(search()).resolves.toHaveLength(1);
    expect([tested.log(), changes]).toEqual(['', []]);
    // The connection for probes is closed when no search is pending.
    await eventually(() => expect(first.open).toBe(1));
  });

  it('stays in use when this process was stalled', async () => {
    start([urlOf(first)], NEVER);
    await search();
    const pending = searchAll();
    const startedAt = performance.now();
    while (performance.now() - startedAt < 3000) {
      // Nothing else runs in this process.
    }
    expect((await pending).length).toBeGreaterThan(1);
    expect([tested.log(), changes]).toEqual(['', []]);
  });
});

it('reports refused credentials until they are accepted', async () => {
  const account = `dn: ${realm.bindDn}\nchangetype: modify\nreplace: nsAccountLock\n`;
  start([first, second].map(urlOf), NEVER);
  await realm.modify(`${account}nsAccountLock: TRUE\n`);
  try {
    await expect(search()).rejects.toMatchObject({ reason: 'refused' });
    expect(tested.pool.servers.reachability).toBe('refused');
    // The servers cannot be connected to any more: still refused.
    await Promise.all([first.refuse(), second.refuse()]);
    await expect(search()).rejects.toMatchObject({ reason: 'refused' });
  } finally {
    await realm.modify(account);
  }
  await Promise.all([first.accept(), second.accept()]);
  await eventually(search);
  expect(changes).toEqual(['refused', 'reachable']);
});
