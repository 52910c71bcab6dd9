import type { GroupEntry, ReplicaBatch, UserEntry } from '../tables/entries';
import { ReplicaTables } from '../tables/ReplicaTables';
import { ChangeReader } from './ChangeReader';
import { TableWriter } from './TableWriter';

const SERVER = 'ldap://one';

const user = (username: string): ReplicaBatch => ({
  kind: 'users',
  entries: [
    {
      id: 'id-user',
      key: `uid=${username}`,
      entry: { user: { username }, uniqueId: 'id-user' } as UserEntry,
    },
  ],
});
const group = (
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
const agreement = (signers: readonly string[]): ReplicaBatch => ({
  kind: 'agreements',
  entries: [
    {
      id: 'id-group',
      key: 'cn=terms',
      entry: { name: 'terms', enabled: true, signers: new Set(signers) },
    },
  ],
});

/**
 * Reads changes. The tables have the user `old`, to whom a group or an agreement
 * refers.
 *
 * @param states - states of the directory: the first is that of the changed
 *   entries, the next ones those of further reads; the last one is repeated
 * @param written - entries that are written during the poll, once in each round
 * @returns the entries that differ from the tables, and how often the user was
 *   read again
 */
async function read(
  before: ReplicaBatch,
  [changes, ...states]: readonly (readonly ReplicaBatch[])[],
  written: readonly (readonly ReplicaBatch[])[] = [],
) {
  const rounds = [changes, ...written];
  let userReads = 0;
  const tables = new ReplicaTables();
  const writer = new TableWriter({ tables });
  [user('old'), before].forEach(batch => writer.write(batch));
  const check = writer.startCheck();
  const position = { server: SERVER, value: '1', requestedAt: 0 };
  const reader = new ChangeReader({
    tables,
    check,
    source: {
      position: async () => position,
      compare: () => (rounds.length > 0 ? 'earlier' : 'same'),
      changes: async (_from, _to, onBatch) => {
        rounds.shift()!.forEach(onBatch);
        return { gone: [], complete: true };
      },
      readEntries: async (_server, refs, onBatch) => {
        userReads += refs.filter(({ kind }) => kind === 'users').length;
        const found = {
          users: new Set<string>(),
          groups: new Set<string>(),
          agreements: new Set<string>(),
        };
        const state = states.length > 1 ? states.shift()! : states[0];
        for (const batch of state) {
          const [{ id }] = batch.entries;
          if (refs.some(ref => ref.kind === batch.kind && ref.id === id)) {
            found[batch.kind].add(id);
            await onBatch(batch);
          }
        }
        return found;
      },
    },
  });
  const { hasAllLost } = await reader.read(position, position, []);
  const links = check.get({ kind: before.kind, id: 'id-group' })?.entry;
  return {
    user: check.get({ kind: 'users', id: 'id-user' })?.key,
    isDeleted: check.missing.length > 0,
    hasAllLost,
    userReads,
    links: [
      ...((links as GroupEntry)?.members ?? []),
      ...((links as GroupEntry)?.sponsors ?? []),
    ],
  };
}

const member = group(['uid=old']);

describe('ChangeReader', () => {
  it.each([
    ['that was read before', [user('old'), group([])]],
    ['that was not written', [group([])]],
  ])('finds a deleted member %s', async (_, changes) => {
    expect(await read(member, [changes, []])).toMatchObject({
      isDeleted: true,
    });
  });

  it('keeps a member that was removed without being written', async () => {
    expect(await read(member, [[group([])], [user('old')]])).toEqual({
      user: undefined,
      isDeleted: false,
      hasAllLost: true,
      userReads: 1,
      links: [],
    });
  });

  it('reads a lost member again only when it lost another reference', async () => {
    const lost = [[group([])], [user('old')]];
    const busy = agreement([]);
    expect(await read(member, lost, [[busy], [busy]])).toMatchObject({
      userReads: 1,
    });
    expect(
      await read(member, lost, [[group(['uid=old'])], [group([])]]),
    ).toMatchObject({ userReads: 2 });
  });

  it.each([
    ['member', member, group(['uid=new'])],
    ['sponsor', group([], ['uid=old']), group([], ['uid=new'])],
    ['signer', agreement(['uid=old']), agreement(['uid=new'])],
  ])(
    'finds the new name of a %s and a deletion',
    async (_what, before, after) => {
      expect(await read(before, [[after], [user('new')]])).toMatchObject({
        user: 'uid=new',
      });
      expect(await read(before, [[after], []])).toMatchObject({
        isDeleted: true,
      });
    },
  );

  it('reads a group until it names the last key of a member', async () => {
    expect(
      await read(member, [
        [user('a'), group(['uid=b'])],
        [user('c'), group(['uid=d'])],
        [user('e'), group(['uid=e'])],
      ]),
    ).toMatchObject({ user: 'uid=e', links: ['uid=e'] });
  });

  it('reads a member until it has the key that the group names', async () => {
    const renamed = group(['uid=new']);
    expect(
      await read(member, [
        [renamed],
        [user('old')],
        [user('old'), renamed],
        [user('new'), renamed],
      ]),
    ).toMatchObject({ user: 'uid=new', links: ['uid=new'] });
  });

  it('accepts that a renamed member was removed', async () => {
    const state = [user('new'), group([])];
    expect(await read(member, [state, state])).toMatchObject({
      user: 'uid=new',
      links: [],
    });
  });

  it('accepts that an entry that is not replicated replaced a member', async () => {
    const state = [user('old'), group(['uid=host'])];
    expect(await read(member, [state, state])).toMatchObject({
      user: undefined,
      links: ['uid=host'],
    });
  });

  it('does not read too many entries that lost a reference', async () => {
    const many = Array.from({ length: 501 }, (_, index) => `uid=${index}`);
    expect(await read(group(many), [[group([])], []])).toMatchObject({
      hasAllLost: false,
    });
  });
});
