import { firstUnseen, IncrementalSync, rolledBack } from './IncrementalSync';
import type { ReplicaSource, ReplicaPosition } from './ReplicaSource';
import { ReplicaTables } from '../tables/ReplicaTables';
import { TableWriter } from './TableWriter';

const usnsOf = (changes: Record<string, number | undefined>) =>
  new Map(Object.entries(changes));
const listedFrom = (
  changes: Record<string, number | undefined>,
  fromUsn = 10,
) => ({
  fromUsn,
  usns: usnsOf(changes),
});

describe('IncrementalSync', () => {
  const server = 'ldap://one';
  const position: ReplicaPosition = {
    server,
    epoch: 1,
    usn: 100,
    committedUsn: 0,
    requestedAt: 0,
  };

  /** Reads agreements and returns those that remain after a later sync. */
  async function agreementsLeft(options: {
    readonly written: number;
    readonly found: readonly string[];
    readonly lacksRight?: boolean;
  }): Promise<readonly string[]> {
    const keys = Array.from({ length: options.written }, (_, n) => `cn=${n}`);
    let listed = new Map(keys.map((key, index) => [key, index + 1]));
    const entry = { name: 'x', enabled: true, signers: new Set<string>() };
    const source = {
      listChanges: async () => ({ server, usns: listed }),
      readChanges: async (_from, onBatch) => {
        onBatch({ kind: 'agreements', entries: keys.map(key => [key, entry]) });
        return { server };
      },
      readEntry: async ({ key }) => ({
        server,
        found: options.found.includes(key),
      }),
      verifyAccess: async () => {
        if (options.lacksRight) {
          throw new Error('no right');
        }
      },
    } satisfies Partial<ReplicaSource> as Partial<ReplicaSource> as ReplicaSource;
    const tables = new ReplicaTables();
    const writer = new TableWriter({ tables });
    const changes = new IncrementalSync({ source, tables, writer });
    await changes.apply(position, 1);
    expect(tables.agreements.size).toBe(options.written);
    listed = new Map();
    const applied = changes.apply(position, 1);
    await (options.lacksRight
      ? expect(applied).rejects.toThrow('no right')
      : applied);
    return [...tables.agreements.keys()];
  }

  it('deletes up to 50 entries that can no longer be read', async () => {
    const found = ['cn=7'];
    expect(await agreementsLeft({ written: 51, found })).toEqual(found);
  });

  it('deletes none while the account lacks a right', async () => {
    expect(
      await agreementsLeft({ written: 2, found: [], lacksRight: true }),
    ).toHaveLength(2);
  });

  it('leaves more than 50 deletions to the guarded comparison of keys', async () => {
    expect(await agreementsLeft({ written: 51, found: [] })).toHaveLength(51);
  });
});

describe('firstUnseen', () => {
  it.each([
    ['no entry was written', {}, {}, undefined],
    ['all writes were read', { a: 11, b: 12 }, { a: 11, b: 12 }, undefined],
    ['one is new', { a: 11, b: 12 }, { a: 11 }, 12],
    ['one was written again', { a: 13, b: 12 }, { a: 11, b: 12 }, 13],
    ['a lower USN becomes visible late', { a: 14, late: 11 }, { a: 14 }, 11],
    ['a USN is lower than the one that was read', { a: 11 }, { a: 14 }, 11],
    ['a USN is not readable', { a: undefined, b: 14 }, { b: 14 }, 10],
    [
      'the same USN is still not readable',
      { a: undefined },
      { a: undefined },
      10,
    ],
  ])('returns the lowest unread USN when %s', (_, now, before, first) => {
    expect(firstUnseen(listedFrom(now), usnsOf(before))).toBe(first);
  });
});

describe('rolledBack', () => {
  it.each([
    ['all entries are listed', { a: 11, b: 13 }, { a: 11, b: 12 }, []],
    ['one entry is not listed', { b: 12 }, { a: 11, b: 12 }, ['a']],
    ['one entry is too old to be listed', {}, { a: 9, b: 10 }, ['b']],
    ['a USN is not readable', {}, { a: undefined }, []],
  ])(
    'returns keys that are no longer listed when %s',
    (_, now, before, keys) => {
      expect(rolledBack(listedFrom(now), usnsOf(before))).toEqual(keys);
    },
  );
});
