import { readFile, stat } from 'node:fs/promises';
import { isNativeError } from 'node:util/types';

/** Reads big-endian fields one after another; throws a `RangeError` past the end. */
export class FieldReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.skip(1));
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.skip(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.skip(4));
  }

  text(): string {
    const length = this.uint16();
    const start = this.skip(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** @returns where the skipped bytes begin */
  skip(length: number): number {
    const start = this.#offset;
    if (length > this.remaining) {
      throw new RangeError('A field is cut short');
    }
    this.#offset += length;
    return start;
  }
}

/**
 * One key of a keytab, without the key.
 */
export interface KeytabEntry {
  /** `HTTP/portal.example.test@EXAMPLE.TEST` */
  principal: string;
  /** Key version number, as in the KDC's database. */
  kvno: number;
}

/** The first two bytes of a keytab: format 5, version 2, the only one still written. */
const MAGIC = 0x0502;

/**
 * Reads the entries of a keytab file (MIT Kerberos documentation, "Keytab file format"). Stops at
 * the first entry that is cut short or makes no sense, as the Kerberos library does.
 *
 * @returns `undefined` when the bytes are no keytab at all
 */
export function parseKeytab(file: Buffer): KeytabEntry[] | undefined {
  if (file.length < 2 || file.readUInt16BE(0) !== MAGIC) {
    return undefined;
  }
  const entries = new Array<KeytabEntry>();
  let offset = 2;
  while (offset + 4 <= file.length) {
    const size = file.readInt32BE(offset);
    const end = offset + 4 + Math.abs(size);
    if (size === 0 || end > file.length) {
      break;
    }
    // A negative size is the hole that a removed entry has left.
    if (size > 0) {
      const entry = parseEntry(file.subarray(offset + 4, end));
      if (!entry) {
        break;
      }
      entries.push(entry);
    }
    offset = end;
  }
  return entries;
}

function parseEntry(bytes: Buffer): KeytabEntry | undefined {
  try {
    const reader = new FieldReader(bytes);
    const components = reader.uint16();
    const realm = reader.text();
    const name = Array.from({ length: components }, () => reader.text());
    reader.skip(4 + 4); // name type, time of writing
    const shortKvno = reader.uint8();
    reader.skip(2); // encryption type
    reader.skip(reader.uint16()); // the key
    // Versions above 255 follow the key, in files of writers that know of this.
    const kvno = reader.remaining >= 4 ? reader.uint32() : 0;
    return {
      principal: `${name.join('/')}@${realm}`,
      kvno: kvno || shortKvno,
    };
  } catch (error) {
    if (error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Whether tickets can be checked with a keytab, or what keeps them from it.
 */
export type KeytabState =
  | { usable: true; entries: KeytabEntry[] }
  | {
      usable: false;
      /** For the log: the path, what is wrong, and what to do. */
      problem: string;
    };

/**
 * Looks into a keytab file. The Kerberos library reads it anew for every token but says no more
 * than "no key", so this is for telling the administrator why.
 *
 * @returns never rejects
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
    return unusable(path, 'is not in the format of a keytab');
  }
  if (entries.length === 0) {
    return unusable(path, 'holds no readable key');
  }
  return { usable: true, entries };
}

async function readRegularFile(path: string): Promise<Buffer> {
  // Before it is opened: a pipe would keep the caller waiting.
  if (!(await stat(path)).isFile()) {
    throw new Error('it is not a regular file');
  }
  return await readFile(path);
}

function describeFileError(error: unknown): string {
  if (!isNativeError(error)) {
    return `cannot be read (${error})`;
  }
  return 'code' in error && error.code === 'ENOENT'
    ? 'does not exist'
    : `cannot be read (${error.message})`;
}

function unusable(path: string, problem: string): KeytabState {
  return {
    usable: false,
    problem:
      `The keytab ${path} (kerberos.keytab) ${problem}: put one with the key of this server's ` +
      `HTTP/ principal there, readable by the portal's user.`,
  };
}
