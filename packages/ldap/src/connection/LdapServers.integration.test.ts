import { startRealm, type Realm } from '@directory-gateway/realm';
import type { JsonObject } from '@backstage/types';
import type { SrvRecord } from 'node:dns';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  eventually,
  stopClock,
} from '@directory-gateway/directory-core/testUtils';
import {
  allUsersSearch,
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../__testUtils__/openLdap';

jest.setTimeout(180_000);

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

  function start(refreshMs: number, ldap: JsonObject = {}): void {
    tested = startPool({
      realm,
      ldap: {
        servers: undefined,
        srv: { name: '_ldaps._tcp.localhost' },
        ...ldap,
      },
      refreshMs,
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
    start(5 * 60_000);
    await Promise.all([search(), search(), search()]);
    await search();
    expect(queries).toEqual(['_ldaps._tcp.localhost']);
    expect(first.accepted).toBe(0);
    expect(second.accepted).toBeGreaterThan(0);
  });

  it('outside the domain of the records are not used', async () => {
    const warn = jest.spyOn(RecordingLogger.prototype, 'warn');
    resolve = async () => [recordOf(first), recordOf(second, 1)];
    start(1, {
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

  it('of equal priority are used in the same order as long as the process runs', async () => {
    const random = jest.spyOn(Math, 'random');
    random.mockReturnValueOnce(0.9).mockReturnValueOnce(0.1);
    const records = [recordOf(first), { ...recordOf(second), weight: 0 }];
    resolve = async () => records;
    start(1);
    await search();
    resolve = async () => [...records].reverse();
    await eventually(async () => {
      await search();
      expect(queries.length).toBeGreaterThan(3);
    });
    expect([first.accepted, second.accepted]).toEqual([0, 1]);
    random.mockRestore();
  });

  it('that DNS has removed have their pending searches repeated', async () => {
    resolve = async () => [recordOf(first)];
    start(1);
    const all = await tested!.search(allUsersSearch(realm));
    first.toClient = { kind: 'hang' };
    const pending = tested!.search(allUsersSearch(realm));
    await nextTurn();
    resolve = async () => [recordOf(second)];
    await eventually(async () => {
      search().catch(() => {});
      await nextTurn();
      expect(second.open).toBeGreaterThan(0);
    });
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
    start(1);
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
    start(5 * 60_000);
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

  it('are waited for no longer than decisionTimeout', async () => {
    resolve = () => new Promise(() => {});
    start(5 * 60_000, { decisionTimeout: '300ms' });
    await expect(search()).rejects.toMatchObject({
      name: 'DirectoryTimeoutError',
    });
  });
});
