import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import {
  AuthorityUnavailableError,
  type CertificateAuthority,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { CertificateAuthorities } from './CertificateAuthorities';
import { readCertificatesConfig } from './CertificatesConfig';

/** Returns an unavailable CA, optionally with profiles. */
function authorityWith(names?: readonly string[]): CertificateAuthority {
  return {
    ...(names && {
      profiles: new Map(
        names.map(name => [name, { validityMs: 1, extendedKeyUsage: [] }]),
      ),
    }),
    sign: async () => Promise.reject(new AuthorityUnavailableError('Away')),
    get: async () => Promise.reject(new AuthorityUnavailableError('Away')),
  };
}

/** Signs a certificate and returns its serial number. */
async function sign(authority: CertificateAuthority): Promise<bigint> {
  const { certificate } = await authority.sign(
    createSigningRequest({
      username: 'alice',
      principal: 'alice',
      profile: 'userCerts',
    }),
  );
  const { description } = certificate;
  return description.ok ? description.certificate.serialNumber : -1n;
}

describe('CertificateAuthorities', () => {
  const configure = (certificates: JsonObject) => {
    const authorities = new CertificateAuthorities();
    authorities.addAuthority('knows', authorityWith(['userCerts', 'vpn']));
    authorities.addAuthority('cannotTell', authorityWith());
    const config = readCertificatesConfig(new ConfigReader({ certificates }));
    return () => authorities.configure(config!);
  };

  it.each([
    ['that its CA has', { authority: 'knows' }, ['userCerts', 'vpn']],
    [
      'when the profiles of its CA are not known',
      { authority: 'cannotTell' },
      ['caIPA'],
    ],
    [
      'that a CA other than the issuing one lacks',
      { authority: 'cannotTell', read: ['knows'] },
      ['caIPA'],
    ],
  ])('accepts profiles %s', (_what, certificates, names) => {
    const profiles = names.map(name => ({ name }));
    expect(configure({ ...certificates, profiles })).not.toThrow();
  });

  it.each([
    [{ profiles: [{ name: 'vpn' }, { name: 'usercerts' }] }, 'usercerts'],
    [{ profiles: [{ name: 'caIPA' }] }, 'caIPA'],
  ])('rejects a profile that the CA does not have', (changes, name) => {
    expect(configure({ authority: 'knows', ...changes })).toThrow(
      `directory.certificates.profiles: the CA "knows" has no profile "${name}", only userCerts, vpn`,
    );
  });

  it('rejects a CA that is not registered', () => {
    expect(configure({ authority: 'knows', read: ['gone'] })).toThrow(
      'directory.certificates names the CA "gone"',
    );
  });

  it('reads the CAs in order and rejects when one is not available', async () => {
    const [first, second] = [
      new PermissiveAuthority(),
      new PermissiveAuthority(),
    ];
    const away = authorityWith();
    const authorities = new CertificateAuthorities();
    for (const [name, authority] of Object.entries({ first, away, second })) {
      authorities.addAuthority(name, authority);
    }
    const read = (certificates: JsonObject, serialNumber: bigint) => {
      const config = readCertificatesConfig(new ConfigReader({ certificates }));
      authorities.configure(config!);
      return authorities.get(serialNumber);
    };
    const [ofFirst, ofSecond] = await Promise.all([sign(first), sign(second)]);
    const both = { authority: 'first', read: ['second'] };
    expect(await read(both, ofFirst)).toBeDefined();
    expect(await read(both, ofSecond)).toBeDefined();
    expect(await read(both, 42n)).toBeUndefined();
    const withAway = { authority: 'first', read: ['away', 'second'] };
    expect(await read(withAway, ofFirst)).toBeDefined();
    await expect(read(withAway, ofSecond)).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
  });

  it('revokes with the CA that issued the certificate', async () => {
    const [cannot, can] = [
      new PermissiveAuthority(),
      new PermissiveAuthority(),
    ];
    const requests: RevocationRequest[] = [];
    const authorities = new CertificateAuthorities();
    authorities.addAuthority('cannot', {
      sign: request => cannot.sign(request),
      get: serialNumber => cannot.get(serialNumber),
    });
    authorities.addAuthority('can', {
      sign: request => can.sign(request),
      get: serialNumber => can.get(serialNumber),
      async revoke(request) {
        requests.push(request);
        return can.revoke(request);
      },
    });
    const certificates = { authority: 'cannot', read: ['can'] };
    authorities.configure(
      readCertificatesConfig(new ConfigReader({ certificates }))!,
    );
    const revoke = (serialNumber: bigint) =>
      authorities.revoke({
        serialNumber,
        reason: 'superseded',
        revokedBy: 'dave',
      });
    const serialNumber = await sign(can);
    expect(await revoke(serialNumber)).toEqual(await can.get(serialNumber));
    expect(requests).toMatchObject([{ serialNumber, revokedBy: 'dave' }]);
    expect(await revoke(42n)).toBeUndefined();
    await expect(revoke(await sign(cannot))).rejects.toMatchObject({
      name: 'AuthorityRefusalError',
      message:
        'Certificates issued by the CA "cannot" cannot be revoked through this gateway.',
    });
  });

  it.each([undefined, { reason: 6 }])(
    'rejects when the CA reports the revocation %j',
    async revocation => {
      const ca = new PermissiveAuthority();
      const serialNumber = await sign(ca);
      const issued = await ca.get(serialNumber);
      const authorities = new CertificateAuthorities();
      authorities.addAuthority('ca', {
        sign: request => ca.sign(request),
        get: number => ca.get(number),
        revoke: async () => ({ ...issued!, revocation }),
      });
      authorities.configure(
        readCertificatesConfig(
          new ConfigReader({ certificates: { authority: 'ca' } }),
        )!,
      );
      await expect(
        authorities.revoke({
          serialNumber,
          reason: 'superseded',
          revokedBy: 'user:default/admin',
        }),
      ).rejects.toMatchObject({ name: 'AuthorityProtocolError' });
    },
  );
});
