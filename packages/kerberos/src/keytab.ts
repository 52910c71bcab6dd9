import { readFile, stat } from 'node:fs/promises';

/**
 * An entry of a keytab, without the key.
 *
 * @public
 */
export interface KeytabEntry {
  /** `HTTP/portal.example.test@EXAMPLE.TEST` */
  principal: string;
  /** Key version number, as in the KDC's database. */
  kvno: number;
  /** Encryption type (IANA, "Kerberos Encryption Type Numbers"). */
  encryptionType: number;
}

/**
 * Whether tickets can be verified with a keytab.
 *
 * @public
 */
export type KeytabState =
  | { usable: true; entries: KeytabEntry[] }
  | {
      usable: false;
      /** Message for the log: the path, the problem and its fix. */
      problem: string;
    };

/** The first two bytes of a keytab: format 5, version 2, the only one still written. */
const MAGIC = 0x0502;

/**
 * Inspects a keytab file to determine why tickets cannot be verified: the
 * Kerberos library reads the file for every token but reports only that there
 * is no key. Never rejects: an unusable keytab is returned as `usable: false`
 * with the problem.
 *
 * @public
 */
export async function inspectKeytab(path: string): Promise<KeytabState> {
  let file: Buffer;
  try {
    file = await readRegularFile(path);
  } catch (error) {
    return unusable(path, describeFileError(error));
  }
  if (file.length === 0) {
    return unusable(path, 'is empty');
  }
  const entries = parseKeytab(file);
  if (!entries) {
    return unusable(path, 'is not a keytab file');
  }
  if (entries.length === 0) {
    return unusable(path, 'contains no readable key');
  }
  return { usable: true, entries };
}

async function readRegularFile(path: string): Promise<Buffer> {
  // Checked before the file is opened: opening a pipe would block.
  if (!(await stat(path)).isFile()) {
    throw new Error('it is not a regular file');
  }
  return await readFile(path);
}

function describeFileError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'does not exist' : `cannot be read (${message})`;
}

function unusable(path: string, problem: string): KeytabState {
  return {
    usable: false,
    problem:
      `The keytab ${path} (kerberos.keytab) ${problem}: provide one with the key of this server's ` +
      `HTTP/ principal, readable by the portal's user.`,
  };
}

/**
 * Reads the entries of a keytab file (MIT Kerberos documentation, "Keytab file format"). Stops at the
 * first entry that is truncated or invalid, as the Kerberos library does.
 *
 * @returns `undefined` when the file is not a keytab
 */
export function parseKeytab(file: Buffer): KeytabEntry[] | undefined {
  if (file.length < 2 || file.readUInt16BE(0) !== MAGIC) {
    return undefined;
  }
  return Array.from(recordsOf(file), ({ entry }) => entry);
}

/**
 * Returns a keytab for each set of keys of a principal, the last added first.
 * A set has one key of each encryption type, all of the same version. Several
 * sets can have the same version.
 */
export function splitKeytab(file: Buffer, principal: string): Buffer[] {
  const sets: KeytabRecord[][] = [];
  for (const record of recordsOf(file)) {
    const { kvno, encryptionType } = record.entry;
    const isOfSet = ({ entry }: KeytabRecord) =>
      entry.kvno === kvno && entry.encryptionType !== encryptionType;
    if (record.entry.principal !== principal) {
      continue;
    }
    if (sets.at(-1)?.every(isOfSet)) {
      sets.at(-1)!.push(record);
    } else {
      sets.push([record]);
    }
  }
  const header = file.subarray(0, 2);
  return sets
    .reverse()
    .map(set => Buffer.concat([header, ...set.map(({ bytes }) => bytes)]));
}

interface KeytabRecord {
  readonly bytes: Buffer;
  readonly entry: KeytabEntry;
}

function* recordsOf(file: Buffer): Generator<KeytabRecord> {
  let offset = 2;
  while (offset + 4 <= file.length) {
    const size = file.readInt32BE(offset);
    const end = offset + 4 + Math.abs(size);
    if (size === 0 || end > file.length) {
      break;
    }
    // A negative size is the gap of a removed entry.
    if (size > 0) {
      const entry = parseEntry(file.subarray(offset + 4, end));
      if (!entry) {
        break;
      }
      yield { bytes: file.subarray(offset, end), entry };
    }
    offset = end;
  }
}

function parseEntry(bytes: Buffer): KeytabEntry | undefined {
  let offset = 0;
  const read = (length: number) => {
    if (offset + length > bytes.length) {
      throw new RangeError('A field is truncated');
    }
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const readUint16 = () => read(2).readUInt16BE();
  const readText = () => read(readUint16()).toString('utf8');
  try {
    const components = readUint16();
    const realm = readText();
    const name = Array.from({ length: components }, readText);
    read(4 + 4); // name type, timestamp
    const shortKvno = read(1)[0];
    const encryptionType = readUint16();
    read(readUint16()); // key
    // Some writers append the version in 32 bits, for versions above 255.
    const kvno = bytes.length - offset >= 4 ? read(4).readUInt32BE() : 0;
    return {
      principal: `${name.join('/')}@${realm}`,
      kvno: kvno || shortKvno,
      encryptionType,
    };
  } catch (error) {
    if (error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}
