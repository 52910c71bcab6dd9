import { FieldReader } from './FieldReader';

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
