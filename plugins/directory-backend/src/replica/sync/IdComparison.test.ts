import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReplicaTables } from '../tables/ReplicaTables';
import type { ReplicaBatch } from '../tables/entries';
import { IdComparison } from './IdComparison';
import type { ReplicaSource } from './ReplicaSource';
import { TableComparison } from './TableComparison';
import { TableWriter } from './TableWriter';

const MINUTE_MS = 60_000;
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

describe('IdComparison', () => {
  let now: number;
  let calls: string[];
  let readRecent: ReplicaSource['readRecent'];
  let ids: IdComparison;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    calls = [];
    readRecent = async (_server, onBatch) => onBatch(staff);
    const tables = new ReplicaTables();
    const writer = new TableWriter({ tables });
    ids = new IdComparison({
      source: {
        ids: async () => {
          calls.push('ids');
          return {
            server: SERVER,
            users: new Set(),
            groups: new Set(),
            agreements: new Set(),
          };
        },
        readRecent: async (...args) => {
          calls.push('readRecent');
          return await readRecent(...args);
        },
      },
      comparison: new TableComparison({
        source: {
          verifyAccess: async () => {},
          readEntries: async () => ({
            users: new Set(),
            groups: new Set(),
            agreements: new Set(),
          }),
        },
        writer,
        guard: async () => {},
      }),
      tables,
      writer,
      logger: new RecordingLogger(),
    });
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns what a poll after a time calls. */
  async function callsAfter(ms: number): Promise<readonly string[]> {
    now += ms;
    calls = [];
    ids.startIfDue(SERVER);
    await nextTurn();
    return calls;
  }

  it('reads recent entries after a comparison, at most once a minute', async () => {
    ids.request();
    expect(await callsAfter(0)).toEqual(['ids']);
    expect(ids.unread).toEqual([]);
    expect(await callsAfter(0)).toEqual(['readRecent']);
    expect(ids.unread).toEqual([{ kind: 'groups', id: 'staff' }]);
    ids.request();
    expect(await callsAfter(MINUTE_MS - 1)).toEqual(['ids']);
    expect(await callsAfter(0)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readRecent']);
    expect(await callsAfter(MINUTE_MS)).toEqual([]);
  });

  it('reads recent entries again after a read that failed', async () => {
    readRecent = () => Promise.reject(new Error('unreachable'));
    expect(await ids.run(SERVER)).toBe(true);
    expect(await callsAfter(0)).toEqual(['readRecent']);
    expect(await callsAfter(MINUTE_MS - 1)).toEqual([]);
    expect(await callsAfter(1)).toEqual(['readRecent']);
  });
});
