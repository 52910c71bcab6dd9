import { mockServices } from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import {
  AuthorityUnavailableError,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { X509Certificate } from 'node:crypto';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { holder, person } from '../__testUtils__/people';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { BlockedKeys } from './BlockedKeys';
import { CertificateRecords } from './CertificateRecords';
import { CertificateAuthorities } from './CertificateAuthorities';
import { readCertificatesConfig } from './CertificatesConfig';
import { RevocationService } from './RevocationService';

/** Returns a certificate of alice. */
async function signed(
  change: Partial<IssuedCertificate> = {},
): Promise<IssuedCertificate> {
  const issued = await new PermissiveAuthority().sign(
    createSigningRequest({
      username: 'alice',
      principal: 'alice@EXAMPLE.TEST',
      profile: 'userCerts',
    }),
  );
  return { ...issued, ...change };
}

describe('RevocationService', () => {
  const database = withDatabase();

  it('blocks the key and revokes while the CA rejects further lookups', async () => {
    const issued = await signed({ revocation: { reason: 1 } });
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
      logger: mockServices.logger.mock(),
      records: { get: jest.fn(), renewedByKeyOf: async () => [] },
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

  describe('with a CA', () => {
    const admin = holder(person('admin'));
    const compromised = { serialNumber: 7n, reason: 'keyCompromise' } as const;
    const event = { success: jest.fn(), fail: jest.fn() };
    let issued: IssuedCertificate;
    let revoked: IssuedCertificate;
    const authority = {
      get: jest.fn(async () => issued),
      revoke: jest.fn(async () => revoked),
      blockKey: jest.fn(async () => {}),
    };
    const block = jest.fn(async () => 'hash');
    const getRecord = jest.fn();
    const logger = mockServices.logger.mock();
    const revocations = new RevocationService({
      authority,
      blockedKeys: { block },
      records: { get: getRecord, renewedByKeyOf: async () => [] },
      auditor: mockServices.auditor.mock({ createEvent: async () => event }),
      config: { requirePortalToken: false },
      logger,
    });

    beforeEach(async () => {
      jest.clearAllMocks();
      issued = await signed();
      revoked = { ...issued, revocation: { reason: 1 } };
    });

    it('succeeds when the CA fails to block the key', async () => {
      authority.blockKey.mockRejectedValueOnce(new Error('No signer'));
      await expect(revocations.revoke(compromised, admin)).resolves.toBe(
        revoked,
      );
      expect(event.success).toHaveBeenCalledWith({
        meta: { blockedKeyHash: 'hash' },
      });
      expect(event.fail).not.toHaveBeenCalled();
      expect(logger.warn).toHaveBeenCalledWith(
        expect.stringContaining('No signer'),
      );
    });

    it('throws the error of the revocation when the CA also fails to block the key', async () => {
      authority.revoke.mockRejectedValueOnce(
        new AuthorityUnavailableError('No database'),
      );
      authority.blockKey.mockRejectedValueOnce(new Error('No signer'));
      await expect(revocations.revoke(compromised, admin)).rejects.toThrow(
        'No database',
      );
      expect(event.fail).toHaveBeenCalledWith({
        meta: { blockedKeyHash: 'hash' },
        error: expect.objectContaining({ message: 'No database' }),
      });
    });

    it('fails when the CA does not find the certificate any more', async () => {
      authority.revoke.mockResolvedValueOnce(undefined as never);
      await expect(
        revocations.revoke(compromised, admin),
      ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
      expect(event.success).not.toHaveBeenCalled();
      expect(event.fail).toHaveBeenCalledTimes(1);
    });

    it.each([
      ['without an owner', { owners: undefined }],
      ['whose owner was deleted', { owners: [] }],
      ["that a user has added to the user's own entry", { owners: ['bob'] }],
    ])('does not revoke a certificate %s', async (_, change) => {
      authority.get.mockResolvedValueOnce({ ...issued, ...change });
      await expect(
        revocations.revoke(compromised, admin),
      ).rejects.toMatchObject({
        name: 'AuthorityRefusalError',
        kind: 'forbidden',
      });
      expect(block).not.toHaveBeenCalled();
      expect(authority.revoke).not.toHaveBeenCalled();
      expect(event.fail).toHaveBeenCalledTimes(1);
    });

    it('revokes a certificate that only the gateway has recorded', async () => {
      authority.get
        .mockResolvedValueOnce({ ...issued, owners: [] })
        .mockResolvedValueOnce({ ...issued, owners: [] });
      const { publicKey } = new X509Certificate(issued.certificate.der);
      getRecord.mockResolvedValueOnce({
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      });
      await expect(revocations.revoke(compromised, admin)).resolves.toBe(
        revoked,
      );
      // The record of another CA.
      getRecord.mockResolvedValueOnce({ publicKey: Buffer.from('other') });
      await expect(
        revocations.revoke(compromised, admin),
      ).rejects.toMatchObject({ name: 'AuthorityRefusalError' });
    });
  });

  it('revokes the certificates that were renewed by a compromised key', async () => {
    const blockedKeys = new BlockedKeys(await openDatabase(database));
    const records = new CertificateRecords(await openDatabase(database));
    const authority = new PermissiveAuthority();
    const hashes = new Array<string>();
    const issue = async (renewedFrom?: bigint) => {
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
        renewedFrom,
      });
      return serialNumber;
    };
    const first = await issue();
    const second = await issue(first);
    const third = await issue(second);
    // As 0.2.0 recorded renewals.
    await (
      await database.getClient()
    )('directory_certificates')
      .whereNotNull('renewed_from')
      .update({ is_renewed_by_key: true });
    const byTicket = await issue(first);
    const createEvent = jest.fn(async () => ({
      success: jest.fn(),
      fail: jest.fn(),
    }));
    const revocations = new RevocationService({
      authority,
      blockedKeys,
      logger: mockServices.logger.mock(),
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
