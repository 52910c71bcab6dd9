import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What a revocation list says, read by OpenSSL. */
export interface ReadRevocationList {
  readonly number: number;
  readonly nextUpdate: Date;
  readonly serialNumbers: readonly bigint[];
}

/** Reads a revocation list, DER. */
export async function readRevocationList(
  list: Buffer,
): Promise<ReadRevocationList> {
  const process = spawn(
    'openssl',
    ['crl', '-inform', 'DER', '-noout', '-text', '-dateopt', 'iso_8601'],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  process.stdin.end(list);
  const said = await text(process.stdout);
  const find = (pattern: RegExp) => pattern.exec(said)?.[1] ?? '';
  return {
    number: Number(find(/CRL Number: \s+(\d+)/)),
    nextUpdate: new Date(find(/Next Update: (.*)/)),
    serialNumbers: [...said.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(
      ([, hex]) => BigInt(`0x${hex}`),
    ),
  };
}
