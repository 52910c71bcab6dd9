import { execFileSync } from 'node:child_process';
import { X509Certificate, createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the `embedded` block of a CA. Creates its key when it does not exist.
 *
 * @param options - `name`: prefix of the files in the folder; each database
 *   needs a separate CA
 */
export function issuerFiles(options: {
  readonly folder: string;
  readonly name: string;
}) {
  const { folder, name } = options;
  const keyFile = join(folder, `${name}.key`);
  const chainFile = join(folder, `${name}.pem`);
  if (!existsSync(keyFile)) {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt'],
        ...['ec_paramgen_curve:P-256', '-nodes', '-days', '1095'],
        ...['-subj', '/O=EXAMPLE.TEST/CN=Certificate Authority'],
        ...['-addext', 'basicConstraints=critical,CA:TRUE,pathlen:0'],
        ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
        ...['-keyout', keyFile, '-out', chainFile],
      ],
      { stdio: 'ignore' },
    );
  }
  return { issuers: [{ chainFile, keyFile }] };
}

/** Returns the path of the CA's CRL, below the plugin's URL. */
export function revocationListPath({
  issuers: [{ chainFile }],
}: ReturnType<typeof issuerFiles>): string {
  const { publicKey } = new X509Certificate(readFileSync(chainFile));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(spki).digest('hex');
  return `/ca/${id.slice(0, 16)}/crl`;
}
