import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** A CRL as OpenSSL reads it. */
export interface ReadRevocationList {
  readonly number: number;
  readonly nextUpdate: Date;
  readonly entries: readonly {
    readonly serialNumber: bigint;
    readonly reason: string;
  }[];
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
    entries: output
      .split(/Serial Number: /)
      .slice(1)
      .map(entry => ({
        serialNumber: BigInt(`0x${/^[0-9A-F]+/.exec(entry)?.[0]}`),
        reason: /Reason Code: \s+(.*)/.exec(entry)?.[1] ?? '',
      })),
  };
}
