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
