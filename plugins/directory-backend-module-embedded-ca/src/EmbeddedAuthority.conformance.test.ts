import type { SignedCertificate } from '@directory-gateway/backstage-plugin-directory-node';
import { describeCertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { TestCa } from './__testUtils__/TestCa';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

describeCertificateAuthority({
  name: 'EmbeddedAuthority',
  async create() {
    const ca = await TestCa.start();
    const { authority } = await ca.open();
    return {
      authority,
      user: { username: 'alice', principal: 'alice@EXAMPLE.TEST' },
      profile: 'userCerts',
      cacn: 'embedded',
      refused: [
        {
          why: 'a name that is too long',
          change: { username: 'a'.repeat(65) },
        },
      ],
      async record(signed: SignedCertificate) {
        ca.records.add(signed);
      },
      async interrupt() {
        ca.records.isAvailable = false;
        return async () => {
          ca.records.isAvailable = true;
        };
      },
      async revoke({ serialNumber, reason }) {
        await ca.records.set(serialNumber, '', {
          reason,
          revokedAt: new Date(),
        });
      },
      stop: () => ca.stop(),
    };
  },
});
