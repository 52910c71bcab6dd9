import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import {
  AuthorityUnavailableError,
  type CertificateAuthority,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { describeCertificate } from '@directory-gateway/x509';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { CertificateAuthorities } from './CertificateAuthorities';
import { readCertificatesConfig } from './CertificatesConfig';

/** An authority that tells its profiles and cannot do anything else now. */
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

/** Has a certificate signed; resolves with its serial number. */
async function sign(authority: CertificateAuthority): Promise<bigint> {
  const { certificate } = await authority.sign(
    createSigningRequest({
      username: 'alice',
      principal: 'alice',
      profile: 'userCerts',
    }),
  );
  const described = describeCertificate(certificate);
  return described.ok ? described.certificate.serialNumber : -1n;
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
    ['that its authority has', { authority: 'knows' }, ['userCerts', 'vpn']],
    ['of which no more is known', { authority: 'cannotTell' }, ['caIPA']],
    [
      'that only a reading authority lacks',
      { authority: 'cannotTell', read: ['knows'] },
      ['caIPA'],
    ],
  ])('takes profiles %s', (_what, certificates, names) => {
    const profiles = names.map(name => ({ name }));
    expect(configure({ ...certificates, profiles })).not.toThrow();
  });

  it.each([
    [{ profiles: [{ name: 'vpn' }, { name: 'usercerts' }] }, 'usercerts'],
    [{ profiles: [{ name: 'caIPA' }] }, 'caIPA'],
  ])('names the profile that the authority does not have', (changes, name) => {
    expect(configure({ authority: 'knows', ...changes })).toThrow(
      `directory.certificates.profiles: the authority "knows" has no profile "${name}", only userCerts, vpn`,
    );
  });

  it('names the authority that is not there', () => {
    expect(configure({ authority: 'knows', read: ['gone'] })).toThrow(
      'directory.certificates names the authority "gone"',
    );
  });

  it('reads the listed authorities in order, and takes none that is away for "no"', async () => {
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

  it('has the authority that issued it revoke, and no other', async () => {
    const [cannot, can] = [
      new PermissiveAuthority(),
      new PermissiveAuthority(),
    ];
    const orders: RevocationRequest[] = [];
    const authorities = new CertificateAuthorities();
    authorities.addAuthority('cannot', cannot);
    authorities.addAuthority('can', {
      sign: request => can.sign(request),
      get: serialNumber => can.get(serialNumber),
      async revoke(order) {
        orders.push(order);
        return can.get(order.serialNumber);
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
    expect(orders).toMatchObject([{ serialNumber, revokedBy: 'dave' }]);
    expect(await revoke(42n)).toBeUndefined();
    await expect(revoke(await sign(cannot))).rejects.toMatchObject({
      name: 'AuthorityRefusalError',
      message: 'The authority "cannot" does not revoke through this gateway.',
    });
  });
});
