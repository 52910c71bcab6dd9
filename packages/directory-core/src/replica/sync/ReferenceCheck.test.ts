import type {
  EntryRef,
  GroupEntry,
  ReplicaBatch,
  UserEntry,
} from '../tables/entries';
import { ReplicaTables } from '../tables/ReplicaTables';
import { ReferenceCheck } from './ReferenceCheck';
import { TableWriter } from './TableWriter';

const usersBatch = (username: string): ReplicaBatch => ({
  kind: 'users',
  entries: [
    {
      id: 'id-user',
      key: `uid=${username}`,
      entry: { user: { username }, uniqueId: 'id-user' } as UserEntry,
    },
  ],
});
const groupsBatch = (
  members: readonly string[],
  sponsors: readonly string[] = [],
): ReplicaBatch => ({
  kind: 'groups',
  entries: [
    {
      id: 'id-group',
      key: 'cn=staff',
      entry: { uniqueId: 'id-group', members, sponsors } as GroupEntry,
    },
  ],
});

/**
 * Checks the entries of a poll. The tables have the user `old` in a group.
 *
 * @param reads - batches by reads, the first of which is that of the poll; the
 *   last one is repeated
 */
async function check(
  reads: readonly (readonly ReplicaBatch[])[],
  {
    refs = [],
    before = groupsBatch(['uid=old']),
  }: {
    readonly refs?: readonly EntryRef[];
    /** The entry that refers to the user. Default: a group with one member. */
    readonly before?: ReplicaBatch;
  } = {},
) {
  const tables = new ReplicaTables();
  const writer = new TableWriter({ tables });
  [usersBatch('old'), before].forEach(batch => writer.write(batch));
  const [first, ...further] = reads;
  const reread: string[] = [];
  const subject = new ReferenceCheck({
    tables,
    source: {
      readEntries: async (_server, wanted, onBatch) => {
        expect(wanted).not.toEqual([]);
        const batches = further.shift() ?? reads.at(-1)!;
        reread.push(...wanted.map(({ id }) => id));
        const found = {
          users: new Set<string>(),
          groups: new Set<string>(),
          agreements: new Set<string>(),
        };
        for (const batch of batches) {
          for (const { id } of batch.entries) {
            if (wanted.some(ref => ref.id === id)) {
              found[batch.kind].add(id);
              await onBatch(batch);
            }
          }
        }
        return found;
      },
    },
  });
  first.forEach(batch => subject.record(batch));
  const { batches, missing } = await subject.complete('ldap://one', refs);
  const keys = batches.flatMap(({ entries }) => entries.map(({ key }) => key));
  const [group] = batches.find(({ kind }) => kind === 'groups')!.entries;
  const { members } = (group?.entry ?? {}) as Partial<GroupEntry>;
  return { keys, members, missing, reread };
}

describe('ReferenceCheck', () => {
  it('returns a member that was deleted after it was read', async () => {
    expect(
      await check([[usersBatch('old'), groupsBatch([])], []]),
    ).toMatchObject({
      keys: ['cn=staff'],
      missing: [{ kind: 'users', id: 'id-user' }],
    });
  });

  it('does not read a renamed member again when the group has the new name', async () => {
    expect(
      await check([[usersBatch('new'), groupsBatch(['uid=new'])]]),
    ).toMatchObject({ reread: [] });
  });

  it('reads a member that was removed without being written', async () => {
    expect(await check([[groupsBatch([])], [usersBatch('old')]])).toMatchObject(
      { keys: ['uid=old', 'cn=staff'], reread: ['id-user'] },
    );
  });

  it('returns a member that can no longer be read', async () => {
    expect(await check([[groupsBatch([])], []])).toMatchObject({
      keys: ['cn=staff'],
      missing: [{ kind: 'users', id: 'id-user' }],
    });
  });

  it.each([
    ['was not written before', [groupsBatch(['uid=new'])]],
    ['was read before', [usersBatch('old'), groupsBatch(['uid=new'])]],
  ])('reads a renamed member who %s', async (_, poll) => {
    expect(await check([poll, [usersBatch('new')]])).toMatchObject({
      keys: ['uid=new', 'cn=staff'],
      members: ['uid=new'],
    });
  });

  it('reads a group again until it names the last key of a member', async () => {
    expect(
      await check([
        [usersBatch('a'), groupsBatch(['uid=b'])],
        [usersBatch('c'), groupsBatch(['uid=d'])],
        [usersBatch('e'), groupsBatch(['uid=e'])],
      ]),
    ).toMatchObject({ keys: ['uid=e', 'cn=staff'], members: ['uid=e'] });
  });

  it.each([
    [
      'sponsor',
      (keys: readonly string[]): ReplicaBatch => ({
        kind: 'groups',
        entries: [
          {
            id: 'id-links',
            key: 'cn=links',
            entry: { uniqueId: 'id-links', members: [], sponsors: keys },
          },
        ],
      }),
    ],
    [
      'signer',
      (keys: readonly string[]): ReplicaBatch => ({
        kind: 'agreements',
        entries: [
          {
            id: 'id-links',
            key: 'cn=links',
            entry: { name: 'links', enabled: true, signers: new Set(keys) },
          },
        ],
      }),
    ],
  ])('reads a %s again who was renamed or deleted', async (_, linksTo) => {
    const renamed = await check([[linksTo(['uid=new'])], [usersBatch('new')]], {
      before: linksTo(['uid=old']),
    });
    expect(renamed).toMatchObject({ reread: ['id-user'] });
    expect(renamed.keys).toEqual(expect.arrayContaining(['uid=new']));
    expect(
      await check([[linksTo([])], []], { before: linksTo(['uid=old']) }),
    ).toMatchObject({ missing: [{ kind: 'users', id: 'id-user' }] });
  });

  it('reads a member again until it has the key that the group names', async () => {
    expect(
      await check([
        [groupsBatch(['uid=new'])],
        [usersBatch('old')],
        [usersBatch('old')],
        [usersBatch('new')],
      ]),
    ).toMatchObject({ keys: ['uid=new', 'cn=staff'], members: ['uid=new'] });
  });

  it('reads a member again whose other link still has the former key', async () => {
    const both = (...keys: [string, string]) =>
      groupsBatch([`uid=${keys[0]}`], [`uid=${keys[1]}`]);
    expect(
      await check(
        [
          [usersBatch('a'), both('b', 'a')],
          [usersBatch('b'), both('b', 'a')],
          [usersBatch('b'), both('b', 'b')],
        ],
        { before: both('old', 'old') },
      ),
    ).toMatchObject({
      keys: ['uid=b', 'cn=staff'],
      members: ['uid=b'],
      reread: ['id-user', 'id-group', 'id-user', 'id-group'],
    });
  });

  it('accepts that a member was replaced by an entry that is not replicated', async () => {
    const read = [usersBatch('old'), groupsBatch(['uid=host'])];
    expect(await check([read, read])).toMatchObject({
      keys: ['uid=old', 'cn=staff'],
      members: ['uid=host'],
    });
  });

  it('accepts that a renamed member was removed', async () => {
    const last = [usersBatch('new'), groupsBatch([])];
    expect(await check([last, last])).toMatchObject({
      keys: ['uid=new', 'cn=staff'],
      members: [],
    });
  });

  it('checks entries that are read for another reason', async () => {
    const read = [usersBatch('a'), groupsBatch(['uid=b'])];
    expect(
      await check([[], read, [usersBatch('b'), groupsBatch(['uid=b'])]], {
        refs: [
          { kind: 'users', id: 'id-user' },
          { kind: 'groups', id: 'id-group' },
        ],
      }),
    ).toMatchObject({ keys: ['uid=b', 'cn=staff'], members: ['uid=b'] });
  });

  it('rejects while entries are renamed faster than they are read', async () => {
    const reads = Array.from({ length: 20 }, (_, n) => [
      usersBatch(`${n}`),
      groupsBatch([`uid=next${n}`]),
    ]);
    await expect(check(reads)).rejects.toThrow('faster than they are read');
  });

  it('reads only the requested entries when too many have lost a reference', async () => {
    const tables = new ReplicaTables();
    const names = Array.from({ length: 501 }, (_, index) => `user${index}`);
    for (const username of names) {
      const entry = { user: { username }, uniqueId: username };
      tables.users.set(`uid=${username}`, entry as UserEntry);
    }
    tables.groups.set('cn=staff', {
      uniqueId: 'id-group',
      members: names.map(name => `uid=${name}`),
      sponsors: [],
    });
    const reread: string[] = [];
    const subject = new ReferenceCheck({
      tables,
      source: {
        readEntries: async (_server, wanted) => {
          reread.push(...wanted.map(({ id }) => id));
          const none = new Set<string>();
          return { users: none, groups: none, agreements: none };
        },
      },
    });
    subject.record(groupsBatch([]));
    const released = { kind: 'users', id: 'user7' } as const;
    expect(await subject.complete('ldap://one', [released])).toMatchObject({
      hasLostMany: true,
      missing: [released],
    });
    expect(reread).toEqual(['user7']);
  });
});
