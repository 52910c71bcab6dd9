import { execFileSync } from 'node:child_process';
import {
  createSigningRequest,
  type SigningKeyType,
} from './createSigningRequest';

describe('createSigningRequest', () => {
  it.each<SigningKeyType>(['p256', 'rsa2048', 'ed25519'])(
    'creates a CSR that OpenSSL can read and verify (%s)',
    key => {
      const { csr, publicKey } = createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
        organization: 'Example',
        key,
      });
      const args = ['-verify', '-noout', '-subject', '-pubkey'];
      const text = execFileSync(
        'openssl',
        ['req', '-inform', 'DER', '-nameopt', 'multiline', ...args],
        { input: csr, encoding: 'utf8', stdio: 'pipe' },
      );
      const [, base64] = /BEGIN PUBLIC KEY-----([^-]*)/.exec(text)!;
      expect(text).toMatch(/organizationName\s+= Example\n/);
      expect(text).toMatch(/commonName\s+= alice\n/);
      expect(Buffer.from(base64, 'base64')).toEqual(publicKey);
    },
  );
});
