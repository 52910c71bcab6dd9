import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { JsonObject } from '@backstage/types';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  type CertificateAuthority,
  type RevocationRecords,
} from '@directory-gateway/backstage-plugin-directory-node';
import directoryModuleFreeIpaCa from '.';
import { FreeIpaAuthority } from './FreeIpaAuthority';

async function registered(
  directory: JsonObject,
): Promise<Map<string, CertificateAuthority>> {
  const authorities = new Map<string, CertificateAuthority>();
  const backend = await startTestBackend({
    extensionPoints: [
      [
        directoryCertificateAuthoritiesExtensionPoint,
        {
          recordsOf: () => ({}) as RevocationRecords,
          addAuthority(name, authority) {
            authorities.set(name, authority);
          },
        },
      ],
    ],
    features: [
      directoryModuleFreeIpaCa,
      mockServices.rootConfig.factory({ data: { directory } }),
    ],
  });
  await backend.stop();
  return authorities;
}

describe('directoryModuleFreeIpaCa', () => {
  it('registers FreeIPA when it is configured', async () => {
    const authorities = await registered({
      certificates: {
        freeipa: {
          servers: ['https://ipa1.test'],
          caFile: '/etc/ipa/ca.crt',
          login: { username: 'portal', passwordFile: '/etc/password' },
        },
      },
    });
    expect([...authorities.keys()]).toEqual(['freeipa']);
    expect(authorities.get('freeipa')).toBeInstanceOf(FreeIpaAuthority);
  });

  it.each(['passwordFile', 'keytab'])(
    'prevents the backend from starting when other users can read the %s',
    async key => {
      const folder = await mkdtemp(join(tmpdir(), 'freeipa-login-'));
      const path = join(folder, 'secret');
      await writeFile(path, 'secret', { mode: 0o644 });
      const name = key === 'keytab' ? 'principal' : 'username';
      const freeipa = {
        servers: ['https://ipa1.test'],
        caFile: '/etc/ipa/ca.crt',
        login: { [name]: 'portal', [key]: path },
      };
      await expect(registered({ certificates: { freeipa } })).rejects.toThrow(
        `directory.certificates.freeipa.login.${key}: ${path} is accessible to other users`,
      );
      await rm(folder, { recursive: true });
    },
  );

  it('registers nothing when it is not configured', async () => {
    const authorities = await registered({ certificates: {} });
    expect(authorities.size).toBe(0);
  });

  it('does not start when the configuration is invalid', async () => {
    const certificates = { freeipa: { servers: ['http://ipa1.test'] } };
    await expect(registered({ certificates })).rejects.toThrow(
      'directory.certificates.freeipa.servers',
    );
  });
});
