import { startRealm, type Realm } from '@directory-gateway/realm';
import type { JsonObject } from '@backstage/types';
import type { SrvRecord } from 'node:dns';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { eventually } from '../../__testUtils__/eventually';
import { FaultProxy } from '../../__testUtils__/ldap/FaultProxy';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  allUsersSearch,
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../../__testUtils__/ldap/openLdap';
import { stopClock } from '../../__testUtils__/stopClock';
import { orderBySrv } from './LdapServers';

jest.setTimeout(180_000);

const srvRecord: fc.Arbitrary<SrvRecord> = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}\.example\.test$/),
  port: fc.integer({ min: 1, max: 65535 }),
  priority: fc.nat(3),
  weight: fc.nat(65535),
});

/** Returns a generator of reproducible numbers from [0, 1) (mulberry32). */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns how often each record of a priority comes first. */
function firstPlaces(weights: readonly number[]): readonly number[] {
  const records = weights.map((weight, port) => {
    return { name: 'ldap.example.test', priority: 0, weight, port };
  });
  const random = seededRandom();
  const counts = weights.map(() => 0);
  for (let draw = 0; draw < 10_000; draw++) {
    counts[orderBySrv(records, random)[0].port]++;
  }
  return counts;
}

describe('SRV records', () => {
  it('keep all targets in order of priority', () => {
    fc.assert(
      fc.property(fc.array(srvRecord), records => {
        const ordered = orderBySrv(records);
        expect(new Set(ordered)).toEqual(new Set(records));
        const priorities = ordered.map(({ priority }) => priority);
        expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
      }),
    );
  });

  it('come first in proportion to their weights', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 10 }), {
          minLength: 2,
          maxLength: 4,
        }),
        weights => {
          const sum = weights.reduce((a, b) => a + b);
          firstPlaces(weights).forEach((count, index) =>
            // Five standard deviations of 10,000 draws are at most 250.
            expect(
              Math.abs(count - (10_000 * weights[index]) / sum),
            ).toBeLessThan(250),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it('without a weight are equally likely, and rarely precede one with a weight', () => {
    for (const count of firstPlaces([0, 0, 0, 0])) {
      expect(Math.abs(count - 2500)).toBeLessThan(250);
    }
    expect(firstPlaces([0, 1])[0]).toBeLessThan(100);
  });

  it('with the target "." are ignored', () => {
    const record = { name: '.', port: 0, priority: 0, weight: 0 };
    expect(orderBySrv([record])).toEqual([]);
  });
});

describe('servers from DNS', () => {
  let realm: Realm;
  let first: FaultProxy;
  let second: FaultProxy;
  let tested: PoolUnderTest | undefined;
  let resolve: () => Promise<SrvRecord[]>;
  let queries: string[];

  beforeAll(async () => {
    realm = await startRealm();
  });
  beforeEach(async () => {
    queries = [];
    first = await FaultProxy.start(realm.ldapsUrl);
    second = await FaultProxy.start(realm.ldapsUrl);
  });
  afterEach(async () => {
    tested?.pool.close();
    await first.stop();
    await second.stop();
  });
  afterAll(() => realm?.stop());

  const recordOf = ({ port }: FaultProxy, priority = 0): SrvRecord => {
    return { name: 'localhost.', port, priority, weight: 10 };
  };
  const search = () => tested!.search(personSearch(realm, 'alice'));

  function start(refresh: string, ldap: JsonObject = {}): void {
    tested = startPool({
      realm,
      ldap: {
        servers: undefined,
        srv: {
          name: '_ldaps._tcp.example.test',
          domain: 'localhost',
          refresh,
        },
        // One connection per server is enough, so that tests can count them.
        pipelining: 16,
        ...ldap,
      },
      resolver: {
        resolveSrv: name => {
          queries.push(name);
          return resolve();
        },
      },
    });
  }

  it('are used by priority and looked up once', async () => {
    resolve = async () => [recordOf(first, 2), recordOf(second, 1)];
    start('5 minutes');
    await Promise.all([search(), search(), search()]);
    await search();
    expect(queries).toEqual(['_ldaps._tcp.example.test']);
    expect(first.accepted).toBe(0);
    expect(second.accepted).toBeGreaterThan(0);
  });

  it('outside the domain of the records are not used', async () => {
    const warn = jest.spyOn(RecordingLogger.prototype, 'warn');
    resolve = async () => [recordOf(first), recordOf(second, 1)];
    start('1ms', {
      srv: { name: '_ldaps._tcp.paris._locations.example.test' },
    });
    await expect(search()).rejects.toMatchObject({
      name: 'DirectoryUnavailableError',
    });
    expect(first.accepted + second.accepted).toBe(0);
    expect(tested!.log()).toMatch(
      /Ignored the SRV target localhost, which is not in example\.test\./,
    );
    expect(warn).toHaveBeenLastCalledWith(expect.any(String), {
      error:
        'Error: No SRV record for _ldaps._tcp.paris._locations.example.test has a target in example.test',
    });
    warn.mockRestore();
  });

  it('complete pending searches after DNS has removed them', async () => {
    resolve = async () => [recordOf(first)];
    start('1ms');
    const all = await tested!.search(allUsersSearch(realm));
    first.toClient = { kind: 'hang' };
    const pending = tested!.search(allUsersSearch(realm));
    await nextTurn();
    resolve = async () => [recordOf(second)];
    // The first searches may still go to the removed server, where they hang.
    await eventually(async () => {
      search().catch(() => {});
      await nextTurn();
      expect(second.open).toBe(1);
    });
    await expect(search()).resolves.toHaveLength(1);
    expect(first.open).toBe(1);
    first.toClient = { kind: 'pass' };
    await expect(pending).resolves.toEqual(all);
    await eventually(() => expect(first.open).toBe(0));
  });

  it.each([
    ['fails', async () => Promise.reject(new Error('ESERVFAIL'))],
    ['has no records', async () => []],
    [
      'returns the target "."',
      async () => [{ name: '.', port: 0, priority: 0, weight: 0 }],
    ],
  ])('stay in use while DNS %s', async (_how, failing) => {
    resolve = async () => [recordOf(first)];
    start('1ms');
    await search();
    resolve = failing;
    for (let round = 0; round < 10; round++) {
      await expect(search()).resolves.toHaveLength(1);
    }
    await eventually(() => expect(first.open).toBe(1));
    expect(tested!.log()).toMatch(/No usable SRV records/);
  });

  it('are unavailable until DNS responds; DNS is queried once a second', async () => {
    resolve = async () => Promise.reject(new Error('ESERVFAIL'));
    start('5 minutes');
    const fail = () =>
      expect(search()).rejects.toMatchObject({
        name: 'DirectoryUnavailableError',
      });
    const clock = stopClock();
    try {
      for (let round = 0; round < 10; round++) {
        await fail();
      }
      expect(queries).toHaveLength(1);
      clock.advance(999);
      await fail();
      expect(queries).toHaveLength(1);
      clock.advance(1);
      await fail();
      expect(queries).toHaveLength(2);
      resolve = async () => [recordOf(first)];
      clock.advance(1000);
      await expect(search()).resolves.toHaveLength(1);
    } finally {
      clock.restore();
    }
  });

  it('are waited for no longer than operationTimeout', async () => {
    resolve = () => new Promise(() => {});
    start('5 minutes', { operationTimeout: '300ms' });
    await expect(search()).rejects.toMatchObject({
      name: 'DirectoryTimeoutError',
    });
  });
});
