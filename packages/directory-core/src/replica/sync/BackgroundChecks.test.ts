import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReplicaTables } from '../tables/ReplicaTables';
import type { EntryRef, ReplicaBatch } from '../tables/entries';
import { BackgroundChecks } from './BackgroundChecks';
import { PendingReads } from './PendingReads';
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

describe('BackgroundChecks', () => {
  let now: number;
  let calls: string[];
  let error: Error | undefined;
  let tables: ReplicaTables;
  let listed: ListedIds;
  let pending: PendingReads;
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
    pending = new PendingReads();
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
      pending,
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

  /** Returns the entries that differ, which the next poll reads. */
  function takeUnread(): readonly EntryRef[] {
    const due = pending.due();
    pending.clear(due);
    return due.flatMap(({ refs }) => refs());
  }

  it('reads recent entries after the stable IDs, at most once a minute', async () => {
    checks.requestIds();
    expect(await callsAfter(0)).toEqual(['ids']);
    expect(takeUnread()).toEqual([]);
    expect(await callsAfter(0)).toEqual(['readRecent']);
    expect(takeUnread()).toEqual([{ kind: 'groups', id: 'staff' }]);
    checks.requestIds();
    expect(await callsAfter(MINUTE_MS - 1)).toEqual(['ids']);
    expect(await callsAfter(0)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readRecent']);
    expect(await callsAfter(MINUTE_MS)).toEqual([]);
  });

  it('finds missing and unknown entries, unless they are not replicated', async () => {
    new TableWriter({ tables }).write(staff);
    listed = { ...listed, users: new Set(['alice', 'other']) };
    tables.unreplicated.add('other');
    checks.requestIds();
    await callsAfter(0);
    expect(takeUnread()).toEqual([
      { kind: 'users', id: 'alice' },
      { kind: 'groups', id: 'staff' },
    ]);
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
