import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReplicaTables } from '../tables/ReplicaTables';
import type { ReplicaBatch } from '../tables/entries';
import { BackgroundChecks } from './BackgroundChecks';
import type { ListedIds } from './ReplicaSource';
import { TableWriter } from './TableWriter';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SERVER = 'ldap://one';

const staff: ReplicaBatch = {
  kind: 'groups',
  entries: [
    {
      id: 'staff',
      key: 'cn=staff',
      entry: { members: ['uid=alice'], sponsors: [], uniqueId: 'staff' },
    },
  ],
};

const alice: ReplicaBatch = {
  kind: 'users',
  entries: [
    {
      id: 'alice',
      key: 'uid=alice',
      entry: { user: { username: 'alice' }, uniqueId: 'alice' },
    },
  ],
};

describe('BackgroundChecks', () => {
  let now: number;
  let calls: string[];
  let error: Error | undefined;
  let tables: ReplicaTables;
  let listed: ListedIds;
  let checks: BackgroundChecks;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    calls = [];
    error = undefined;
    tables = new ReplicaTables();
    listed = {
      server: SERVER,
      users: new Set(),
      groups: new Set(),
      agreements: new Set(),
    };
    const respond = async <T>(call: string, result: T): Promise<T> => {
      calls.push(call);
      if (error) {
        throw error;
      }
      return result;
    };
    checks = new BackgroundChecks({
      source: {
        ids: () => respond('ids', listed),
        readRecent: async (_server, onBatch) =>
          onBatch(await respond('readRecent', staff)),
        readAllThrottled: () => respond('readAll', listed),
      },
      tables,
      startCheck: () => new TableWriter({ tables }).startCheck(),
      guard: async () => {},
      logger: new RecordingLogger(),
    });
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns what a poll after a time calls. */
  async function callsAfter(ms: number): Promise<readonly string[]> {
    now += ms;
    calls = [];
    checks.startDue(SERVER);
    await nextTurn();
    return calls;
  }

  it('reads recent entries after the stable IDs, at most once a minute', async () => {
    checks.requestIds();
    expect(await callsAfter(0)).toEqual(['ids']);
    expect(checks.unread).toEqual([]);
    expect(await callsAfter(0)).toEqual(['readRecent']);
    expect(checks.unread).toEqual([{ kind: 'groups', id: 'staff' }]);
    checks.requestIds();
    expect(await callsAfter(MINUTE_MS - 1)).toEqual(['ids']);
    expect(await callsAfter(0)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readRecent']);
    expect(await callsAfter(MINUTE_MS)).toEqual([]);
  });

  it('reads recent entries again after a read that failed', async () => {
    await checks.recordIds(listed);
    error = new Error('unreachable');
    expect(await callsAfter(0)).toEqual(['readRecent']);
    expect(await callsAfter(MINUTE_MS - 1)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readRecent']);
  });

  it('finds missing and unknown entries, unless they are not replicated', async () => {
    new TableWriter({ tables }).write(staff);
    const unknown = { kind: 'users', id: 'alice' } as const;
    listed = { ...listed, users: new Set(['alice']) };
    const found = async () => {
      checks.requestIds();
      await callsAfter(MINUTE_MS);
      return checks.unread;
    };
    const missing = { kind: 'groups', id: 'staff' };
    expect(await found()).toEqual([missing, unknown]);
    // The next poll reads both, and deletes the group.
    checks.clear(checks.unread);
    new TableWriter({ tables }).delete([{ kind: 'groups', id: 'staff' }]);
    expect(await found()).toEqual([]);
    // An entry that was replicated for a time is read again.
    new TableWriter({ tables }).write(alice);
    expect(await found()).toEqual([]);
    new TableWriter({ tables }).delete([unknown]);
    expect(await found()).toEqual([unknown]);
  });

  it('forgets an entry that was deleted before it was read', async () => {
    listed = { ...listed, users: new Set(['alice']) };
    await checks.recordIds(listed);
    expect(checks.unread).toHaveLength(1);
    await checks.recordIds({ ...listed, users: new Set() });
    expect(checks.unread).toEqual([]);
  });

  it('compares all entries once a day, and after a failure in five minutes', async () => {
    expect(await callsAfter(DAY_MS - 1)).toEqual([]);
    error = new Error('unreachable');
    expect(await callsAfter(1)).toEqual(['readAll']);
    error = undefined;
    expect(await callsAfter(5 * MINUTE_MS - 1)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readAll']);
    expect(await callsAfter(DAY_MS - 1)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readAll']);
  });
});
