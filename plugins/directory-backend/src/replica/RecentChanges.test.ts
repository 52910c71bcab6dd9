import { RecentChanges } from './RecentChanges';
import type { ReplicaSource, ReplicaTime } from './ReplicaSource';
import { createTables } from './ReplicaTables';
import { TableWriter } from './TableWriter';

describe('RecentChanges', () => {
  const server = 'ldap://one';
  const time: ReplicaTime = {
    server,
    ...{ epoch: 1, usn: 100, committedUsn: 0, askedAt: 0 },
  };

  /** Reads agreements, then all that the directory still returns of them. */
  async function agreementsLeft(options: {
    readonly written: number;
    readonly found: readonly string[];
  }): Promise<readonly string[]> {
    const keys = Array.from({ length: options.written }, (_, n) => `cn=${n}`);
    let listed = new Map(keys.map((key, index) => [key, index + 1]));
    const entry = { name: 'x', enabled: true, signers: new Set<string>() };
    const source = {
      listChanges: async () => ({ server, numbers: listed }),
      readChanges: async (_from, take) => {
        take({ kind: 'agreements', entries: keys.map(key => [key, entry]) });
        return { server };
      },
      readEntry: async ({ key }) => ({
        server,
        found: options.found.includes(key),
      }),
    } satisfies Partial<ReplicaSource> as Partial<ReplicaSource> as ReplicaSource;
    const tables = createTables();
    const writer = new TableWriter({ tables });
    const changes = new RecentChanges({ source, tables, writer });
    await changes.take(time, 1);
    expect(tables.agreements.size).toBe(options.written);
    listed = new Map();
    await changes.take(time, 1);
    return [...tables.agreements.keys()];
  }

  it('removes up to 50 entries that cannot be read any more', async () => {
    const found = ['cn=7'];
    expect(await agreementsLeft({ written: 51, found })).toEqual(found);
  });

  it('leaves more than 50 to the comparison, which has the guard', async () => {
    expect(await agreementsLeft({ written: 51, found: [] })).toHaveLength(51);
  });
});
