import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type Caller,
  type Directory,
  emptyUser,
  PrincipalSet,
  PrivateDirectory,
  type UserField,
} from '@directory-gateway/directory-core';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { CertificateReader } from './CertificateReader';
import type { ReadableCertificates } from './CertificatesConfig';
import type { CertificateRecord } from './records/certificateRows';

const alice = person('alice');
const service: Caller = holder({
  ...person('web'),
  kind: 'service',
  username: undefined,
  service: 'HTTP/web',
});

describe('CertificateReader', () => {
  const authority = new PermissiveAuthority();
  const served: Pick<Directory, 'getUser'> = {
    getUser: async ({ username }) =>
      ['alice', 'bob', 'private'].includes(username)
        ? { ...emptyUser(), username, is_private: username === 'private' }
        : undefined,
  };

  /** Returns the owners of the certificates that a caller may see. */
  async function seen(
    options: {
      readonly readable: ReadableCertificates;
      readonly hidden?: readonly UserField[];
    },
    caller: Caller,
  ): Promise<readonly string[]> {
    const { readable, hidden = [] } = options;
    const reader = new CertificateReader({
      authorities: {
        async get(serialNumber) {
          const issued = await authority.get(serialNumber);
          return issued && { ...issued, authority: 'ca' };
        },
      },
      config: { readable },
      directory: new PrivateDirectory(served as Directory, {
        hidden: new Set(hidden),
        trustedReaders: new PrincipalSet({ principals: ['HTTP/web'] }),
        ownOnly: new Set(readable === 'own' ? ['certificates'] : []),
      }),
    });
    const visible: string[] = [];
    for (const username of ['alice', 'bob', 'private', 'gone']) {
      const { certificate } = await authority.sign(
        createSigningRequest({
          username,
          principal: username,
          profile: 'userCerts',
        }),
      );
      const { description } = certificate;
      const serialNumber = description.ok
        ? description.certificate.serialNumber
        : 0n;
      const signal = new AbortController().signal;
      const read = await reader.get(serialNumber, { caller, signal });
      visible.push(...(read?.owners ?? []));
    }
    return visible;
  }

  const ALL = ['alice', 'bob', 'private', 'gone'];
  const SERVED = ['alice', 'bob', 'private'];

  it.each<
    [ReadableCertificates, UserField[], readonly string[], readonly string[]]
  >([
    ['all', [], ALL, ALL],
    ['users', [], SERVED, SERVED],
    ['own', [], ['alice'], []],
    // The service is a trusted reader.
    ['all', ['certificates'], ['alice', 'bob'], ALL],
    ['users', ['certificates'], ['alice', 'bob'], SERVED],
    ['own', ['certificates'], ['alice'], []],
  ])(
    'with readable "%s" and hidden fields %j shows %j to a user and %j to a service',
    async (readable, hidden, toAlice, toService) => {
      const options = { readable, hidden };
      expect(await seen(options, holder(alice))).toEqual(toAlice);
      expect(await seen(options, service)).toEqual(toService);
    },
  );

  it('shows a certificate to its owner after a rename, and not by the next user with the name', async () => {
    const reader = new CertificateReader({
      authorities: { get: async () => undefined },
      config: { readable: 'users' },
      directory: new PrivateDirectory(served as Directory, {
        hidden: new Set(['certificates']),
        trustedReaders: new PrincipalSet({}),
        ownOnly: new Set(),
      }),
    });
    const isVisible = (owners: string[], subjectId: string, caller: Caller) => {
      const record = { username: 'bob', subjectId } as CertificateRecord;
      const { signal } = new AbortController();
      return reader.isVisible({ owners, record }, { caller, signal });
    };
    const reading = holder(alice);
    expect(await isVisible(['bob'], 'ipaUniqueID=bob', reading)).toBe(true);
    expect(await isVisible([], 'ipaUniqueID=earlier', reading)).toBe(false);
    const earlier = holder({ ...alice, stableId: 'ipaUniqueID=earlier' });
    expect(await isVisible([], 'ipaUniqueID=earlier', earlier)).toBe(true);
  });
});
