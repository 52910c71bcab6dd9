import { execFileSync } from 'node:child_process';
import type { Realm } from '@directory-gateway/realm';
import { embeddedAuthority } from '../gateway/directoryConfig';
import type { Gateway } from '../gateway/startGateway';
import { revocationListPath } from './issuerFiles';

/** A CRL as read by OpenSSL. */
export interface ReadRevocationList {
  /** DER of the CRL in Base64. */
  readonly bytes: string;
  readonly number: number;
  /** Serial numbers in decimal. */
  readonly serials: readonly string[];
}

/** Returns the public CRL of a gateway's embedded CA. */
export async function readRevocationList(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  realm: Realm,
): Promise<ReadRevocationList> {
  const path = revocationListPath(embeddedAuthority(realm).embedded);
  const response = await fetch(`${baseUrl}/api/directory${path}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = execFileSync(
    'openssl',
    ['crl', '-inform', 'DER', '-noout', '-text'],
    { input: bytes, encoding: 'utf8' },
  );
  return {
    bytes: bytes.toString('base64'),
    number: Number(/X509v3 CRL Number: \s+(\d+)/.exec(text)![1]),
    serials: [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, hex]) =>
      String(BigInt(`0x${hex}`)),
    ),
  };
}
