import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** A CRL as OpenSSL reads it. */
export interface ReadRevocationList {
  readonly number: number;
  readonly nextUpdate: Date;
  readonly serialNumbers: readonly bigint[];
}

/** Reads a CRL, DER. */
export async function readRevocationList(
  list: Buffer,
): Promise<ReadRevocationList> {
  const process = spawn(
    'openssl',
    ['crl', '-inform', 'DER', '-noout', '-text', '-dateopt', 'iso_8601'],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  process.stdin.end(list);
  const output = await text(process.stdout);
  const find = (pattern: RegExp) => pattern.exec(output)?.[1] ?? '';
  return {
    number: Number(find(/CRL Number: \s+(\d+)/)),
    nextUpdate: new Date(find(/Next Update: (.*)/)),
    serialNumbers: [...output.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(
      ([, hex]) => BigInt(`0x${hex}`),
    ),
  };
}
