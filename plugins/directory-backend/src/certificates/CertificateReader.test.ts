import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { describeCertificate } from '@directory-gateway/x509';
import { GullibleAuthority } from '../__testUtils__/GullibleAuthority';
import { directoryOf, holder, person } from '../__testUtils__/people';
import type { Caller } from '../directory/Caller';
import { CertificateReader } from './CertificateReader';
import type { ReadableCertificates } from './CertificatesConfig';

const alice = person('alice');
const service: Caller = holder({
  ...person('web'),
  ...{ kind: 'service', username: undefined, service: 'HTTP/web' },
});
/** In the directory, but not one whom the API serves. */
const unserved = { ...person('system'), served: false };

describe('CertificateReader', () => {
  const authority = new GullibleAuthority();
  const directory = directoryOf([alice, person('bob'), unserved]);

  /** Reads a certificate of each of these; answers whose can be seen. */
  async function seen(
    readable: ReadableCertificates,
    caller: Caller,
  ): Promise<readonly string[]> {
    const reader = new CertificateReader({
      ...{ authority, directory, config: { readable } },
    });
    const visible: string[] = [];
    for (const username of ['alice', 'bob', 'system', 'gone']) {
      const { certificate } = await authority.sign(
        createSigningRequest({
          ...{ username, principal: username, profile: 'userCerts' },
        }),
      );
      const described = describeCertificate(certificate);
      const serialNumber = described.ok
        ? described.certificate.serialNumber
        : 0n;
      const signal = new AbortController().signal;
      const read = await reader.get(serialNumber, { caller, signal });
      visible.push(...(read?.owners ?? []));
    }
    return visible;
  }

  it.each<[ReadableCertificates, readonly string[], readonly string[]]>([
    [
      'all',
      ['alice', 'bob', 'system', 'gone'],
      ['alice', 'bob', 'system', 'gone'],
    ],
    ['users', ['alice', 'bob'], ['alice', 'bob']],
    ['own', ['alice'], []],
  ])(
    'with "%s" shows a user %j, and a service %j',
    async (readable, toAlice, toService) => {
      expect(await seen(readable, holder(alice))).toEqual(toAlice);
      expect(await seen(readable, service)).toEqual(toService);
    },
  );
});
