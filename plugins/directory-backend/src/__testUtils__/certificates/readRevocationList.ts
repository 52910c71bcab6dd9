import { execFileSync } from 'node:child_process';
import type { Realm } from '@directory-gateway/realm';
import { embeddedAuthority } from '../gateway/directoryConfig';
import type { Gateway } from '../gateway/startGateway';
import { revocationListPath } from './issuerFiles';

/** A CRL as OpenSSL reads it. */
export interface ReadRevocationList {
  /** DER, in base64. */
  readonly bytes: string;
  readonly number: number;
  /** Decimal. */
  readonly serials: readonly string[];
}

/** Returns the public CRL of a gateway with the CA of its realm. */
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
