import { readCertificateRequest } from '../request/readCertificateRequest';
import { readFixture, readManifest } from './readManifest';

/** Reads every file of the manifest, passes the keys to OpenSSL, and prints the outcomes. */
function main(): void {
  const outcomes = readManifest().map(({ file }) => {
    const result = readCertificateRequest(readFixture(file));
    if (!result.ok) {
      return result.code;
    }
    const { keyObject } = result.csr.publicKey;
    keyObject.export({ format: 'jwk' });
    return keyObject.asymmetricKeyDetails ? 'read' : 'read without details';
  });
  process.stdout.write(JSON.stringify(outcomes));
}

main();
