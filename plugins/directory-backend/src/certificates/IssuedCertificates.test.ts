import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { IssuedCertificates } from './IssuedCertificates';
import type { CertificateOwner } from './records/certificateRows';

const FIELDS = new Set(['username', 'certificates'] as const);

/**
 * Opens records with a certificate for each user but carol, whose bytes are
 * the ID of the account.
 */
function open(
  listUsable = async (owners: readonly CertificateOwner[]) =>
    new Map(
      owners.map(({ username, stableId = username }) => [
        stableId,
        [Buffer.from(stableId)],
      ]),
    ),
) {
  const queries = jest.fn(listUsable);
  const certificates = new IssuedCertificates({
    authorities: () => ['ca'],
    owners: { has: ({ username }) => username !== 'carol' },
    records: { listUsable: queries },
    stableIdOf: username => (username === 'bob' ? undefined : `id=${username}`),
  });
  return {
    queries,
    certificates,
    async read(username: string) {
      const [user] = await certificates.addTo([{ username }], FIELDS);
      return user;
    },
  };
}

it('queries once for concurrent requests and again for later ones', async () => {
  const { queries, read } = open();
  const found = await Promise.all(['alice', 'bob', 'alice'].map(read));
  expect(found.map(user => user.certificates)).toEqual([
    [Buffer.from('id=alice')],
    [Buffer.from('bob')],
    [Buffer.from('id=alice')],
  ]);
  const alice = { username: 'alice', stableId: 'id=alice' };
  const bob = { username: 'bob', stableId: undefined };
  const options = { authorities: ['ca'] };
  expect(queries.mock.calls).toEqual([[[alice, bob], options]]);
  await read('alice');
  expect(queries.mock.calls.slice(1)).toEqual([[[alice], options]]);
});

it('does not query unless certificates are requested of a user who has some', async () => {
  const { certificates, queries, read } = open();
  await certificates.addTo(
    [{ username: 'alice' }],
    new Set(['username'] as const),
  );
  expect(await read('carol')).toEqual({ username: 'carol' });
  expect(queries).not.toHaveBeenCalled();
});

it('rejects when the database is not available', async () => {
  const { read } = open(async () => {
    throw new AuthorityUnavailableError('The database is not available');
  });
  const settled = await Promise.allSettled(['alice', 'bob'].map(read));
  expect(settled).toEqual([
    { status: 'rejected', reason: expect.any(AuthorityUnavailableError) },
    { status: 'rejected', reason: expect.any(AuthorityUnavailableError) },
  ]);
});
