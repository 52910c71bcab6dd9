import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import {
  AuthorityUnavailableError,
  type CertificateAuthority,
  type RevokedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { CertificateAuthorities } from './CertificateAuthorities';
import { readCertificatesConfig } from './CertificatesConfig';
import { RECORDS } from './records/certificateRows';

/** Returns an unavailable CA, optionally with profiles. */
function authorityWith(names?: readonly string[]): CertificateAuthority {
  return {
    cacn: 'away',
    ...(names && {
      profiles: new Map(
        names.map(name => [name, { validityMs: 1, extendedKeyUsage: [] }]),
      ),
    }),
    sign: async () => Promise.reject(new AuthorityUnavailableError('Away')),
    get: async () => Promise.reject(new AuthorityUnavailableError('Away')),
  };
}

describe('CertificateAuthorities', () => {
  const database = withDatabase();

  const open = async (
    registered: Readonly<Record<string, CertificateAuthority>>,
    certificates?: JsonObject,
  ) => openAuthorities(await openDatabase(database), registered, certificates);

  const configure = (certificates: JsonObject) => {
    const authorities = new CertificateAuthorities();
    authorities.addAuthority('knows', authorityWith(['userCerts', 'vpn']));
    authorities.addAuthority('cannotTell', authorityWith());
    const config = readCertificatesConfig(new ConfigReader({ certificates }));
    return () => authorities.configure(config!, {} as never);
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
    const [ofFirst, ofSecond] = await Promise.all(
      [first, second].map(async ca => {
        const opened = await open({ ca });
        const { serialNumber } = await opened.issue();
        return serialNumber;
      }),
    );
    await (await database.getClient())(RECORDS).delete();
    const both = await open({ first, second });
    expect(await both.authorities.get(ofFirst)).toBeDefined();
    expect(await both.authorities.get(ofSecond)).toMatchObject({
      authority: 'second',
      record: undefined,
    });
    expect(await both.authorities.get(42n)).toBeUndefined();
    const away = await open({ first, away: authorityWith(), second });
    expect(await away.authorities.get(ofFirst)).toBeDefined();
    await expect(away.authorities.get(ofSecond)).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
  });

  it('queries only the CA that has a record', async () => {
    const ca = new PermissiveAuthority();
    const issued = await (await open({ second: ca })).issue();
    const first = { ...authorityWith(), get: jest.fn() };
    const { authorities, records } = await open({ first, second: ca });
    const { serialNumber } = issued;
    const found = await authorities.get(serialNumber);
    expect(found).toMatchObject({ authority: 'second', record: issued });
    expect(first.get).not.toHaveBeenCalled();

    // What was revoked outside the gateway is recorded.
    await ca.revoke({ serialNumber, reason: 'superseded', revokedBy: 'x' });
    expect(await authorities.get(serialNumber)).toMatchObject({
      revocation: { reason: 4 },
    });
    expect(await records.find(serialNumber)).toMatchObject([
      { revocation: { reason: 4 } },
    ]);
  });

  it.each([
    ['the present name of a renamed account', 'married', 'id2', ['married']],
    ['the recorded name of a deleted account', undefined, undefined, ['alice']],
    ['no name if another account has it', undefined, 'id2', []],
  ])('returns %s as the owner', async (_what, present, idOfName, owners) => {
    const permissive = new PermissiveAuthority();
    const ca = {
      cacn: 'own',
      choosesSerialNumbers: true,
      sign: permissive.sign.bind(permissive),
    };
    const { authorities, issue } = openAuthorities(
      await openDatabase(database),
      { ca },
      {},
      { usernameOf: () => present, stableIdOf: () => idOfName },
    );
    const { serialNumber } = await issue();
    expect(await authorities.get(serialNumber)).toMatchObject({ owners });
  });

  it('refuses to revoke, and to hold, with a CA that cannot', async () => {
    const { cacn, sign } = authorityWith();
    const { authorities, hasHolds } = await open({ ca: { cacn, sign } }).then(
      opened => ({ ...opened, hasHolds: opened.authorities.hasHolds() }),
    );
    expect(hasHolds).toBe(false);
    await expect(
      authorities.revoke('ca', {
        serialNumber: 1n,
        reason: 'superseded',
        revokedBy: 'dave',
      }),
    ).rejects.toMatchObject({
      name: 'AuthorityRefusalError',
      message:
        'Certificates issued by the CA "ca" cannot be revoked through this gateway.',
    });
    const certificate = { authority: 'ca', serialNumber: 1n };
    for (const change of ['hold', 'release'] as const) {
      await expect(authorities[change](certificate)).rejects.toMatchObject({
        name: 'AuthorityRefusalError',
      });
    }
  });

  it('rejects changes of a certificate that the CA does not find', async () => {
    const missing = async () => undefined;
    const ca = {
      ...authorityWith(),
      get: missing,
      hold: missing,
      release: missing,
      revoke: missing,
    };
    const { authorities } = await open({ ca });
    const certificate = { authority: 'ca', serialNumber: 1n };
    const reason = 'superseded' as const;
    for (const change of [
      () => authorities.hold(certificate),
      () => authorities.release(certificate),
      () => authorities.revoke('ca', { ...certificate, reason, revokedBy: '' }),
    ]) {
      await expect(change()).rejects.toThrow('does not find certificate 1');
    }
  });

  it('rejects when the CA does not revoke permanently', async () => {
    const ca = { ...authorityWith(), revoke: async () => ({ reason: 6 }) };
    const { authorities } = await open({ ca });
    await expect(
      authorities.revoke('ca', {
        serialNumber: 1n,
        reason: 'superseded',
        revokedBy: 'user:default/admin',
      }),
    ).rejects.toMatchObject({ name: 'AuthorityProtocolError' });
  });

  it('keeps the reason of a revocation with a CA that does not know it', async () => {
    const permissive = new PermissiveAuthority();
    const { authorities, issue } = await open({
      ca: {
        cacn: 'step',
        choosesSerialNumbers: true,
        sign: request => permissive.sign(request),
        revoke: async ({ reason }) => ({ reason: REVOCATION_REASONS[reason] }),
      },
    });
    const { serialNumber } = await issue();
    for (const reason of ['keyCompromise', 'superseded'] as const) {
      const request = { serialNumber, reason, revokedBy: 'dave' };
      expect(await authorities.revoke('ca', request)).toMatchObject({
        reason: 1,
      });
    }
  });

  it('revokes with a CA that reads the records of the gateway', async () => {
    const permissive = new PermissiveAuthority();
    permissive.choosesSerialNumbers = false;
    const registry = new CertificateAuthorities();
    const early = registry.recordsOf('ca').list('unknown', {
      notExpiredAt: new Date(),
    });
    const lists = new Array<readonly RevokedCertificate[]>();
    const opened = await open({
      ca: {
        cacn: 'own',
        sign: request => permissive.sign(request),
        async revoke({ serialNumber }) {
          const revocations = opened.authorities.recordsOf('ca');
          const { issuer } = (await revocations.findIssuer(serialNumber))!;
          const state = await revocations.set(serialNumber, issuer!, {
            reason: 4,
            revokedAt: new Date(1.8e12),
          });
          lists.push(
            await revocations.list(issuer!, { notExpiredAt: new Date() }),
          );
          return state;
        },
      },
    });
    // The methods wait for the database.
    registry.addAuthority('ca', authorityWith());
    registry.configure(opened.config, {
      ...opened,
      accounts: { stableIdOf: () => undefined, usernameOf: () => undefined },
    });
    expect(await early).toEqual([]);

    const { serialNumber } = await opened.issue();
    await opened.authorities.revoke('ca', {
      serialNumber,
      reason: 'superseded',
      revokedBy: 'user:default/admin',
    });
    expect(lists).toEqual([
      [{ serialNumber, reason: 4, revokedAt: new Date(1.8e12) }],
    ]);
    const knex = await database.getClient();
    expect(await knex(RECORDS)).toMatchObject([
      { state: 'revoked', reason: 4, revoked_by: 'user:default/admin' },
    ]);
  });
});
