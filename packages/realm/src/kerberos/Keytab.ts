/** File format version 2 of MIT krb5 (`doc/formats/keytab_file_format.rst`). */
const VERSION = Buffer.from([0x05, 0x02]);

/**
 * A keytab file as a list of records, each kept as it is: enough to join
 * keytabs and to drop old keys, with no key ever taken apart.
 */
export class Keytab {
  readonly #records: readonly Buffer[];

  private constructor(records: readonly Buffer[]) {
    this.#records = records;
  }

  /** @throws Error when this is no keytab of version 2 */
  static parse(file: Buffer): Keytab {
    if (!file.subarray(0, 2).equals(VERSION)) {
      throw new Error('Not a keytab of version 2');
    }
    const records: Buffer[] = [];
    let offset = 2;
    while (offset + 4 <= file.length) {
      const size = file.readInt32BE(offset);
      const start = offset + 4;
      offset = start + Math.abs(size);
      if (size > 0) {
        records.push(file.subarray(start, offset)); // a negative size is a hole
      }
    }
    return new Keytab(records);
  }

  static join(keytabs: readonly Keytab[]): Keytab {
    return new Keytab(keytabs.flatMap(keytab => keytab.#records));
  }

  /** Only the keys with the highest version number there is. */
  newest(): Keytab {
    const highest = Math.max(...this.versions);
    return new Keytab(
      this.#records.filter(record => versionOf(record) === highest),
    );
  }

  /** The key version number of every record. */
  get versions(): number[] {
    return this.#records.map(versionOf);
  }

  toBuffer(): Buffer {
    return Buffer.concat([
      VERSION,
      ...this.#records.flatMap(record => {
        const size = Buffer.alloc(4);
        size.writeInt32BE(record.length);
        return [size, record];
      }),
    ]);
  }
}

/** Key version: 32 bits after the key where present and not 0, else the old 8 bits. */
function versionOf(record: Buffer): number {
  let offset = 2;
  const components = record.readUInt16BE(0);
  for (let index = 0; index <= components; index += 1) {
    offset += 2 + record.readUInt16BE(offset); // the realm, then each component
  }
  offset += 4 + 4; // name type, time
  const short = record.readUInt8(offset);
  offset += 1 + 2; // version, encryption type
  offset += 2 + record.readUInt16BE(offset); // key
  const long = offset + 4 <= record.length ? record.readUInt32BE(offset) : 0;
  return long || short;
}
