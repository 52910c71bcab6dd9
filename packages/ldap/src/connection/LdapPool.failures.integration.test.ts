import { startRealm, type Realm } from '@directory-gateway/realm';
import type { JsonObject } from '@backstage/types';
import { PersistentSearchControl, type Entry } from 'ldapts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reachability } from '@directory-gateway/directory-core';
import {
  eventually,
  stopClock,
} from '@directory-gateway/directory-core/testUtils';
import { AccessLog } from '../__testUtils__/AccessLog';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import {
  allUsersSearch,
  personSearch,
  type PoolOptions,
  startPool,
  type PoolUnderTest,
} from '../__testUtils__/openLdap';

jest.setTimeout(600_000);

/** Timeouts that do not expire in a test. */
const NEVER = { decisionTimeout: '1h' };

let realm: Realm;
let first: FaultProxy;
let second: FaultProxy;
let tested: PoolUnderTest | undefined;
let alice: readonly Entry[];
let everyone: readonly Entry[];
let changes: Reachability[];

beforeAll(async () => {
  realm = await startRealm();
  const direct = startPool({ realm });
  alice = await direct.search(personSearch(realm, 'alice'));
  everyone = await direct.search(allUsersSearch(realm));
  direct.pool.close();
});
beforeEach(async () => {
  first = await FaultProxy.start(realm.ldapsUrl);
  second = await FaultProxy.start(realm.ldapsUrl);
});
afterEach(async () => {
  jest.restoreAllMocks();
  tested?.pool.close();
  tested = undefined;
  await first.stop();
  await second.stop();
});
afterAll(() => realm?.stop());

/** Starts a pool whose servers all lead to the one real server. */
function start(
  servers: readonly (FaultProxy | string)[],
  ldap: JsonObject = {},
  options: PoolOptions = {},
): void {
  const urls = servers.map(server =>
    typeof server === 'string' ? server : urlOf(server),
  );
  tested = startPool({
    realm,
    ldap: { servers: urls, ...ldap },
    silenceMs: 1000,
    ...options,
  });
  changes = [];
  tested.pool.servers.onReachability(change => changes.push(change));
}

function urlOf({ port }: FaultProxy): string {
  return `ldaps://localhost:${port}`;
}

const search = (uid = 'alice') => tested!.search(personSearch(realm, uid));
const searchAll = () => tested!.search(allUsersSearch(realm));

/**
 * Closes a server's connections, refuses new ones, and waits until the pool
 * excludes the server.
 */
async function lose(proxy: FaultProxy): Promise<void> {
  await proxy.refuse();
  proxy.reset();
  await eventually(async () => {
    await search();
    expect(tested!.log()).toContain(`${urlOf(proxy)} excluded after failures`);
  });
}

async function loseAndRestore(proxy: FaultProxy): Promise<void> {
  await lose(proxy);
  await proxy.accept();
  await eventually(() =>
    expect(tested!.lines()).toContain(
      `info Directory server ${urlOf(proxy)} back in service`,
    ),
  );
}

/** Returns the server that responds to a search. */
async function currentServer(): Promise<string> {
  const { server } = await tested!.pool.search(personSearch(realm, 'alice'));
  return server;
}

const unavailable = {
  name: 'DirectoryUnavailableError',
  reason: 'unreachable',
};
const timeout = { name: 'DirectoryTimeoutError' };

/**
 * Searches until a search succeeds. For tests with a short `operationTimeoutMs`:
 * on a busy machine, a single search may miss the deadline.
 */
const eventuallySearch = () =>
  eventually(async () => expect(await search()).toEqual(alice));

describe('a lost server', () => {
  it('is replaced by the next one, even for pending searches', async () => {
    start([first, second]);
    first.toClient = { kind: 'delay', ms: 100 };
    const pending = Array.from({ length: 20 }, searchAll);
    await eventually(() => expect(first.open).toBeGreaterThan(0));
    first.toClient = { kind: 'hang' };
    await first.refuse();
    first.reset();
    for (const entries of await Promise.all(pending)) {
      expect(entries).toEqual(everyone);
    }
    expect(second.accepted).toBeGreaterThan(0);
  });

  it('stays the second choice after it is back in service', async () => {
    start([first, second]);
    await loseAndRestore(first);
    for (let round = 0; round < 20; round++) {
      await expect(currentServer()).resolves.toBe(urlOf(second));
    }
    await lose(second);
    await expect(currentServer()).resolves.toBe(urlOf(first));
  });

  it('becomes the current server again after the failback time', async () => {
    start([first, second], {}, { failbackMs: 0 });
    await loseAndRestore(first);
    await expect(currentServer()).resolves.toBe(urlOf(first));
  });

  it('stays in use when one connection with many searches is lost', async () => {
    start([first]);
    await search();
    // A success within the last second also keeps a server in use.
    const clock = stopClock();
    clock.advance(1000);
    first.toClient = { kind: 'hang' };
    const pending = Array.from({ length: 10 }, () => search());
    await nextTurn();
    first.reset();
    first.toClient = { kind: 'pass' };
    for (const entries of await Promise.all(pending)) {
      expect(entries).toEqual(alice);
    }
    clock.restore();
    expect(tested!.log()).toBe('');
  });

  it('stays in use when callers cannot process a page', async () => {
    start([first], NEVER);
    const failing = {
      ...allUsersSearch(realm),
      onPage() {
        throw new Error('The page cannot be processed');
      },
    };
    for (let round = 0; round < 5; round++) {
      await expect(tested!.search(failing)).rejects.toThrow();
    }
    expect(tested!.log()).toBe('');
    expect(await search()).toEqual(alice);
  });

  it('has lookups and long reads on a connection each', async () => {
    start([first]);
    for (let round = 0; round < 3; round++) {
      await Promise.all([
        ...Array.from({ length: 10 }, () => search()),
        searchAll(),
        searchAll(),
      ]);
    }
    expect([first.accepted, first.open]).toEqual([2, 2]);
  });

  it('costs no connection and no delay while it is excluded', async () => {
    start([first, second], {}, { constants: { connectTimeoutMs: 300 } });
    for (const proxy of [first, second]) {
      proxy.both = { kind: 'hang' };
    }
    await eventually(async () => {
      await expect(search()).rejects.toMatchObject(unavailable);
      expect(tested!.log().match(/excluded/g)).toHaveLength(2);
    });
    const accepted = first.accepted + second.accepted;
    for (let round = 0; round < 1000; round++) {
      await expect(search()).rejects.toMatchObject(unavailable);
    }
    // Only the probes in the background connect.
    expect(first.accepted + second.accepted).toBeLessThan(accepted + 500);
  });
});

describe('a slow server', () => {
  it('stays in use when only one connection attempt times out', async () => {
    start([first], NEVER, { constants: { connectTimeoutMs: 300 } });
    await eventuallySearch();
    first.both = { kind: 'hang' };
    // Other searches succeed in the meantime.
    const clock = stopClock();
    await tested!.pool.verifyBind();
    clock.restore();
    expect(tested!.log()).toBe('');
    first.both = { kind: 'pass' };
    expect(await search()).toEqual(alice);
  });

  it('times out at the deadline', async () => {
    start([first], { decisionTimeout: '300ms' });
    await eventuallySearch();
    first.toClient = { kind: 'delay', ms: 60_000 };
    await expect(search()).rejects.toMatchObject(timeout);
  });

  it('gets the full time for each page of a long result', async () => {
    start([first], {}, { constants: { operationTimeoutMs: 1000 } });
    first.toClient = { kind: 'delay', ms: 300 };
    // At least four pages. On a busy machine, one of them may exceed its time.
    await eventually(async () => expect(await searchAll()).toEqual(everyone));
  });

  it('delays no lookup while a long read is slow', async () => {
    start([first], NEVER);
    let release = () => {};
    const released = new Promise<void>(resolve => (release = resolve));
    const pages: number[] = [];
    const slow = tested!.search({
      ...allUsersSearch(realm),
      async onPage(page) {
        pages.push(page.length);
        await released;
      },
    });
    await eventually(() => expect(pages).toHaveLength(1));
    await expect(search()).resolves.toEqual(alice);
    // The pages of long reads alternate on their connection.
    await expect(searchAll()).resolves.toEqual(everyone);
    expect(pages).toHaveLength(1);
    release();
    await slow;
    expect(pages.reduce((a, b) => a + b)).toBe(everyone.length);
  });
});

describe('a silently lost connection', () => {
  it('is closed after the deadline', async () => {
    start([first], { decisionTimeout: '300ms' });
    await eventuallySearch();
    first.vanish();
    await expect(search()).rejects.toMatchObject(timeout);
    await eventually(() => expect(first.open).toBe(0));
    await eventuallySearch();
  });
});

describe('excess searches', () => {
  it('wait in the queue no longer than the deadline', async () => {
    start([first], { decisionTimeout: '1200ms' });
    await eventuallySearch();
    const log = new AccessLog(realm);
    await log.searches();
    const results = await Promise.allSettled([
      // A persistent search does not end.
      tested!.search({
        ...personSearch(realm, 'alice'),
        control: new PersistentSearchControl(),
      }),
      ...Array.from({ length: 50 }, () => search('carol')),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ reason: timeout });
    }
    // The queue is first in, first out: it is empty when this search succeeds.
    await eventuallySearch();
    // Expired searches are not sent and do not count as failures.
    const filters = (await log.searches()).map(({ filter }) => filter);
    expect(filters).toContain('(uid=alice)');
    expect(filters).not.toContain('(uid=carol)');
    expect(tested!.log()).toBe('');
  });
});

describe('a server that stops responding', () => {
  it('has its pending searches sent to the next server', async () => {
    start([first, second], NEVER);
    await Promise.all([search(), searchAll()]);
    first.both = { kind: 'hang' };
    const pending = Array.from({ length: 10 }, () =>
      Promise.all([search(), searchAll()]),
    );
    for (const results of await Promise.all(pending)) {
      expect(results).toEqual([alice, everyone]);
    }
    expect(tested!.log()).toBe(
      `warn Directory server ${urlOf(
        first,
      )} excluded after failures: DirectoryUnavailableError: Directory server ${urlOf(
        first,
      )} does not respond`,
    );
    expect(changes).toEqual([]);
  });

  it('is not searched until it responds', async () => {
    start([first], NEVER);
    await search();
    first.both = { kind: 'hang' };
    const pending = await Promise.allSettled([search(), searchAll()]);
    for (const result of pending) {
      expect(result).toMatchObject({ reason: unavailable });
    }
    expect([tested!.pool.servers.reachability, changes]).toEqual([
      'unreachable',
      ['unreachable'],
    ]);
    for (let round = 0; round < 20; round++) {
      await expect(search()).rejects.toMatchObject(unavailable);
    }
    first.both = { kind: 'pass' };
    await eventually(search);
    expect([tested!.pool.servers.reachability, changes]).toEqual([
      'reachable',
      ['unreachable', 'reachable'],
    ]);
  });
});

describe('a server that responds to probes', () => {
  it('stays in use during a long search', async () => {
    start([first], NEVER);
    await search();
    const { accepted } = first;
    // A persistent search does not end.
    const slow = tested!.search({
      ...personSearch(realm, 'alice'),
      control: new PersistentSearchControl(),
    });
    await eventually(() => {
      expect(first.accepted).toBeGreaterThanOrEqual(accepted + 3);
    });
    expect([tested!.log(), changes]).toEqual(['', []]);
    tested!.pool.close();
    await expect(slow).rejects.toMatchObject(unavailable);
  });

  it('stays in use after this process was stalled', async () => {
    start([first], NEVER);
    await search();
    const pending = searchAll();
    const startedAt = performance.now();
    while (performance.now() - startedAt < 3000) {
      // Block the event loop of this process.
    }
    expect((await pending).length).toBeGreaterThan(1);
    expect([tested!.log(), changes]).toEqual(['', []]);
  });
});

it('reports refused credentials until they are accepted', async () => {
  const account = `dn: ${realm.bindDn}\nchangetype: modify\nreplace: nsAccountLock\n`;
  start([first, second], NEVER);
  await realm.modify(`${account}nsAccountLock: TRUE\n`);
  try {
    await expect(search()).rejects.toMatchObject({ reason: 'refused' });
    expect(tested!.pool.servers.reachability).toBe('refused');
    // The servers no longer accept connections; the state stays 'refused'.
    await Promise.all([first.refuse(), second.refuse()]);
    await expect(search()).rejects.toMatchObject({ reason: 'refused' });
  } finally {
    await realm.modify(account);
  }
  await Promise.all([first.accept(), second.accept()]);
  await eventually(search);
  expect(changes).toEqual(['refused', 'reachable']);
});
