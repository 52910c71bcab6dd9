import {
  AuthorityUnavailableError,
  type CertificatesQuery,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Directory, RequestContext } from '../directory/Directory';
import { IssuedCertificatesDirectory } from './IssuedCertificatesDirectory';

const CONTEXT = {} as RequestContext;
const FIELDS = new Set(['username', 'certificates'] as const);

const directory: Partial<Directory> = {
  getUser: async ({ username }) => ({ username }),
};

/** Has issued to everybody a certificate that is their name. */
function recordingAuthority() {
  const questions: CertificatesQuery[] = [];
  const listByUsers = async (query: CertificatesQuery) => {
    questions.push(query);
    return new Map(query.usernames.map(name => [name, [certificateOf(name)]]));
  };
  return { questions, listByUsers };
}

function certificateOf(username: string): IssuedCertificate {
  const certificate = Buffer.from(username);
  return { certificate, chain: [certificate], cacn: 'test' };
}

it('asks once for all who wait, and anew for who comes later', async () => {
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
  expect(authority.questions).toEqual([
    { usernames: ['alice', 'bob'], which: 'usable' },
  ]);

  await read('alice');
  expect(authority.questions.slice(1)).toEqual([
    { usernames: ['alice'], which: 'usable' },
  ]);
});

it('asks nobody when no certificates are asked for', async () => {
  const authority = recordingAuthority();
  const users = new IssuedCertificatesDirectory(
    directory as Directory,
    authority,
  );
  await users.getUser(
    { username: 'alice', fields: new Set(['username'] as const) },
    CONTEXT,
  );
  expect(authority.questions).toEqual([]);
});

it('answers nobody when the authority cannot be asked', async () => {
  const users = new IssuedCertificatesDirectory(directory as Directory, {
    listByUsers: async () => {
      throw new AuthorityUnavailableError('The database cannot be asked');
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
