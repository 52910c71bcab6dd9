import { readFile, writeFile } from 'node:fs/promises';

/** Header field with the difference between the clocks of KDC and client. */
const DELTA_TIME_TAG = 1;

/**
 * Copies a ticket cache with a clock offset: clients add the offset in the
 * header of a version 4 cache to their clock (MIT Kerberos documentation,
 * "Credential cache file format").
 */
export async function shiftTicketClock(options: {
  from: string;
  to: string;
  seconds: number;
}): Promise<void> {
  const cache = await readFile(options.from);
  const version = cache.subarray(0, 2);
  const rest = cache.subarray(4 + cache.readUInt16BE(2));

  const header = Buffer.alloc(14);
  header.writeUInt16BE(12, 0);
  header.writeUInt16BE(DELTA_TIME_TAG, 2);
  header.writeUInt16BE(8, 4);
  header.writeInt32BE(options.seconds, 6);
  await writeFile(options.to, Buffer.concat([version, header, rest]), {
    mode: 0o600,
  });
}
