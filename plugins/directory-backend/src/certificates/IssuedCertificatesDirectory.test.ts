import {
  AuthorityUnavailableError,
  type CertificatesQuery,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import type { Directory, RequestContext } from '../directory/Directory';
import { IssuedCertificatesDirectory } from './IssuedCertificatesDirectory';

const CONTEXT = {} as RequestContext;
const FIELDS = new Set(['username', 'certificates'] as const);

const directory: Partial<Directory> = {
  getUser: async ({ username }) => ({ username }),
};

/**
 * Returns a CA that has issued each user a certificate whose bytes are the user
 * name.
 */
function recordingAuthority() {
  const queries: CertificatesQuery[] = [];
  const listByUsers = async (query: CertificatesQuery) => {
    queries.push(query);
    return new Map(query.usernames.map(name => [name, [certificateOf(name)]]));
  };
  return { queries, listByUsers };
}

function certificateOf(username: string): IssuedCertificate {
  const certificate = new Certificate(Buffer.from(username));
  return { certificate, chain: [certificate.der], cacn: 'test' };
}

it('queries the CA once for concurrent requests and again for later ones', async () => {
  const authority = recordingAuthority();
  const users = new IssuedCertificatesDirectory(
    directory as Directory,
    authority,
  );
  const read = (username: string) =>
    users.getUser({ username, fields: FIELDS }, CONTEXT);

  const names = ['alice', 'bob', 'alice'];
  const found = await Promise.all(names.map(read));
  expect(found.map(user => user?.certificates)).toEqual(
    names.map(name => [Buffer.from(name)]),
  );
  expect(authority.queries).toEqual([
    { usernames: ['alice', 'bob'], which: 'usable' },
  ]);

  await read('alice');
  expect(authority.queries.slice(1)).toEqual([
    { usernames: ['alice'], which: 'usable' },
  ]);
});

it('does not query the CA unless certificates are requested', async () => {
  const authority = recordingAuthority();
  const users = new IssuedCertificatesDirectory(
    directory as Directory,
    authority,
  );
  await users.getUser(
    { username: 'alice', fields: new Set(['username'] as const) },
    CONTEXT,
  );
  expect(authority.queries).toEqual([]);
});

it('rejects when the CA is not available', async () => {
  const users = new IssuedCertificatesDirectory(directory as Directory, {
    listByUsers: async () => {
      throw new AuthorityUnavailableError('The database is not available');
    },
  });
  const settled = await Promise.allSettled(
    ['alice', 'bob'].map(username =>
      users.getUser({ username, fields: FIELDS }, CONTEXT),
    ),
  );
  expect(settled).toEqual([
    { status: 'rejected', reason: expect.any(AuthorityUnavailableError) },
    { status: 'rejected', reason: expect.any(AuthorityUnavailableError) },
  ]);
});
