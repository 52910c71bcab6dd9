import { execFileSync } from 'node:child_process';
import type { Gateway } from '../gateway/startGateway';

/** A CRL as OpenSSL reads it. */
export interface ReadRevocationList {
  /** DER, in base64. */
  readonly bytes: string;
  readonly number: number;
  /** Decimal. */
  readonly serials: readonly string[];
}

/** Returns the public CRL of a gateway. */
export async function readRevocationList({
  baseUrl,
}: Pick<Gateway, 'baseUrl'>): Promise<ReadRevocationList> {
  const response = await fetch(`${baseUrl}/api/directory/ca/crl`);
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
