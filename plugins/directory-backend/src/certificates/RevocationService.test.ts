import { mockServices } from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import {
  AuthorityUnavailableError,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import { holder, person } from '../__testUtils__/people';
import { CertificateAuthorities } from './CertificateAuthorities';
import { readCertificatesConfig } from './CertificatesConfig';
import { RevocationService } from './RevocationService';

describe('RevocationService', () => {
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
});
