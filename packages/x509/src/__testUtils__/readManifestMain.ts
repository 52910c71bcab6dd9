import { createPublicKey } from 'node:crypto';
import { readCertificateRequest } from '../request/readCertificateRequest';
import { readFixture, readManifest } from './readManifest';

/** Reads every file of the manifest, passes the keys to OpenSSL, and prints the outcomes. */
function main(): void {
  const outcomes = readManifest().map(({ file }) => {
    const result = readCertificateRequest(readFixture(file));
    if (!result.ok) {
      return result.code;
    }
    const { spki } = result.csr.publicKey;
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    key.export({ format: 'jwk' });
    return key.asymmetricKeyDetails ? 'read' : 'read without details';
  });
  process.stdout.write(JSON.stringify(outcomes));
}

main();
