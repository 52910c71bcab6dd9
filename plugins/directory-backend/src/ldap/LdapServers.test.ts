import { startRealm, type Realm } from '@directory-gateway/realm';
import type { SrvRecord } from 'node:dns';
import fc from 'fast-check';
import { eventually } from '../__testUtils__/eventually';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import {
  everybodySearch,
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../__testUtils__/startPool';
import { orderBySrv } from './LdapServers';

jest.setTimeout(60_000);

const srvRecord: fc.Arbitrary<SrvRecord> = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}\.example\.test$/),
  port: fc.integer({ min: 1, max: 65535 }),
  priority: fc.nat(3),
  weight: fc.nat(65535),
});

/** Numbers from [0, 1) that are the same in each run (mulberry32). */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How often each record of a priority comes first. */
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
  it('keep all targets, by priority', () => {
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
            // Five standard deviations of 10,000 draws are 250 at most.
            expect(
              Math.abs(count - (10_000 * weights[index]) / sum),
            ).toBeLessThan(250),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it('without weights come first alike, and hardly ever beside one with', () => {
    for (const count of firstPlaces([0, 0, 0, 0])) {
      expect(Math.abs(count - 2500)).toBeLessThan(250);
    }
    expect(firstPlaces([0, 1])[0]).toBeLessThan(100);
  });

  it('with the target "." stand for no server', () => {
    const record = { name: '.', port: 0, priority: 0, weight: 0 };
    expect(orderBySrv([record])).toEqual([]);
  });
});

describe('servers from DNS', () => {
  let realm: Realm;
  let first: FaultProxy;
  let second: FaultProxy;
  let tested: PoolUnderTest | undefined;
  let answer: () => Promise<SrvRecord[]>;
  let questions: string[];

  beforeAll(async () => {
    realm = await startRealm();
  });
  beforeEach(async () => {
    questions = [];
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
  const ask = () => tested!.search(personSearch(realm, 'alice'));

  function start(refresh: string): void {
    tested = startPool({
      realm,
      ldap: {
        servers: undefined,
        srv: { name: '_ldaps._tcp.example.test', refresh },
        operationTimeout: '2s',
        // One connection is enough for a server, which makes them countable.
        pipelining: 16,
      },
      resolver: {
        resolveSrv: name => {
          questions.push(name);
          return answer();
        },
      },
    });
  }

  it('are asked by their priority, and looked up once', async () => {
    answer = async () => [recordOf(first, 2), recordOf(second, 1)];
    start('5 minutes');
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(questions).toEqual(['_ldaps._tcp.example.test']);
    expect([first.accepted, second.accepted]).toEqual([0, 1]);
  });

  it('that vanish end what they were asked, and get nothing new', async () => {
    answer = async () => [recordOf(first)];
    start('1ms');
    const all = await tested!.search(everybodySearch(realm));
    first.toClient = { kind: 'delay', ms: 100 };
    const pending = tested!.search(everybodySearch(realm));
    answer = async () => [recordOf(second)];
    await eventually(async () => {
      await ask();
      expect(second.open).toBe(1);
    });
    expect(first.open).toBe(1);
    await expect(pending).resolves.toEqual(all);
    await eventually(() => expect(first.open).toBe(0));
  });

  it.each([
    ['fails', async () => Promise.reject(new Error('ESERVFAIL'))],
    ['has none', async () => []],
    [
      'says that there are none',
      async () => [{ name: '.', port: 0, priority: 0, weight: 0 }],
    ],
  ])('stay in use while DNS %s', async (_how, failing) => {
    answer = async () => [recordOf(first)];
    start('1ms');
    await ask();
    answer = failing;
    for (let round = 0; round < 10; round++) {
      await expect(ask()).resolves.toHaveLength(1);
    }
    expect(first.accepted).toBe(1);
    expect(tested!.log()).toMatch(/no answer for the SRV records/);
  });

  it('that are not known yet are a failure, and DNS is not hammered', async () => {
    answer = async () => Promise.reject(new Error('ESERVFAIL'));
    start('5 minutes');
    for (let round = 0; round < 50; round++) {
      await expect(ask()).rejects.toMatchObject({
        name: 'DirectoryUnavailableError',
      });
    }
    expect(questions.length).toBeLessThan(10);
    answer = async () => [recordOf(first)];
    await eventually(ask);
  });

  it('are waited for no longer than for an operation', async () => {
    answer = () => new Promise(() => {});
    start('5 minutes');
    await expect(ask()).rejects.toMatchObject({
      name: 'DirectoryTimeoutError',
    });
  });
});
