import { mockServices } from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import {
  AuthorityUnavailableError,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { holder, person } from '../__testUtils__/people';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { BlockedKeys } from './BlockedKeys';
import { CertificateAuthorities } from './CertificateAuthorities';
import { CertificateRecords, type Renewal } from './CertificateRecords';
import { readCertificatesConfig } from './CertificatesConfig';
import { RevocationService } from './RevocationService';

describe('RevocationService', () => {
  const database = withDatabase();

  it('blocks the key and revokes while the CA rejects further lookups', async () => {
    const issued: IssuedCertificate = {
      certificate: new Certificate(Buffer.from('alice')),
      chain: [],
      cacn: 'ipa',
      owners: ['alice'],
    };
    const authority = new CertificateAuthorities();
    authority.addAuthority('freeipa', {
      sign: async () => issued,
      get: async (_serialNumber, options) => {
        if (!options?.forRevocation) {
          throw new AuthorityUnavailableError('Too many lookups are waiting');
        }
        return issued;
      },
      revoke: async () => issued,
    });
    const config = readCertificatesConfig(
      new ConfigReader({ certificates: { authority: 'freeipa' } }),
    )!;
    authority.configure(config);
    const block = jest.fn().mockResolvedValue('hash');
    const revocations = new RevocationService({
      authority,
      blockedKeys: { block },
      records: { renewedByKeyOf: async () => [] },
      auditor: mockServices.auditor.mock({
        createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
      }),
      config,
    });
    await expect(
      revocations.revoke(
        { serialNumber: 7n, reason: 'keyCompromise' },
        holder(person('admin')),
      ),
    ).resolves.toBe(issued);
    expect(block).toHaveBeenCalledWith(issued.certificate, {
      blockedBy: 'admin@EXAMPLE.TEST',
    });
  });

  it('revokes and reports the failure when the CA cannot block the key', async () => {
    const issued: IssuedCertificate = {
      certificate: new Certificate(Buffer.from('alice')),
      chain: [],
      cacn: 'embedded',
      owners: ['alice'],
    };
    const revoke = jest.fn(async () => issued);
    const blockKey = jest
      .fn()
      .mockRejectedValueOnce(new AuthorityUnavailableError('No signer'));
    const event = { success: jest.fn(), fail: jest.fn() };
    const revocations = new RevocationService({
      authority: { get: async () => issued, revoke, blockKey },
      blockedKeys: { block: async () => 'hash' },
      records: { renewedByKeyOf: async () => [] },
      auditor: mockServices.auditor.mock({ createEvent: async () => event }),
      config: { requirePortalToken: false },
    });
    const request = { serialNumber: 7n, reason: 'keyCompromise' } as const;
    const admin = holder(person('admin'));
    await expect(revocations.revoke(request, admin)).rejects.toThrow(
      'No signer',
    );
    expect(revoke).toHaveBeenCalledTimes(1);
    expect(event.success).not.toHaveBeenCalled();
    expect(event.fail).toHaveBeenCalledWith({
      meta: { blockedKeyHash: 'hash' },
      error: expect.objectContaining({ message: 'No signer' }),
    });
    await expect(revocations.revoke(request, admin)).resolves.toBe(issued);
    expect(blockKey).toHaveBeenCalledTimes(2);
  });

  it('revokes the certificates that were renewed by a compromised key', async () => {
    const blockedKeys = new BlockedKeys(await openDatabase(database));
    const records = new CertificateRecords(await openDatabase(database));
    const authority = new PermissiveAuthority();
    const hashes = new Array<string>();
    const issue = async (renewal?: Renewal) => {
      const request = createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
      });
      const { certificate } = await authority.sign(request);
      if (!certificate.description.ok) {
        throw new Error('Unreadable');
      }
      const { serialNumber, publicKey } = certificate.description.certificate;
      hashes.push(publicKey.sha256);
      await records.add({
        serialNumber,
        username: 'alice',
        subjectId: 'ipaUniqueID=1',
        profile: 'userCerts',
        label: undefined,
        publicKey: request.publicKey,
        notAfter: new Date(Date.now() + 60_000),
        lookupServer: undefined,
        renewal,
      });
      return serialNumber;
    };
    const first = await issue();
    const second = await issue({ from: first, byKey: true });
    const third = await issue({ from: second, byKey: true });
    const byTicket = await issue({ from: first, byKey: false });
    const createEvent = jest.fn(async () => ({
      success: jest.fn(),
      fail: jest.fn(),
    }));
    const revocations = new RevocationService({
      authority,
      blockedKeys,
      records,
      auditor: mockServices.auditor.mock({ createEvent }),
      config: { requirePortalToken: false },
    });
    await revocations.revoke(
      { serialNumber: first, reason: 'keyCompromise' },
      holder(person('alice')),
    );
    for (const serialNumber of [first, second, third]) {
      expect((await authority.get(serialNumber))?.revocation?.reason).toBe(1);
    }
    expect((await authority.get(byTicket))?.revocation).toBeUndefined();
    expect(
      await Promise.all(hashes.map(hash => blockedKeys.has(hash))),
    ).toEqual([true, true, true, false]);
    expect(createEvent).toHaveBeenCalledTimes(3);
  });
});
