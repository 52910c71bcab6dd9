/** Tags of LDAP messages (RFC 4511, appendix B). */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  enumerated: 0x0a,
  sequence: 0x30,
  set: 0x31,
  bindResponse: 0x61,
  searchEntry: 0x64,
  searchDone: 0x65,
  searchReference: 0x73,
  extendedResponse: 0x78,
  controls: 0xa0,
} as const;

/** Error for bytes that do not follow RFC 4511. */
export class ProtocolError extends Error {
  override name = 'ProtocolError' as const;
}

/** Tag and the offsets at which the content begins and ends. */
interface BerHeader {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Maximum number of length octets, for lengths below 4 GiB. */
const MAX_LENGTH_OCTETS = 4;

/**
 * Returns the header of the element at an offset, in the subset of BER that
 * LDAP uses (RFC 4511 §5.1); `undefined` when the header is not complete yet.
 *
 * @throws ProtocolError when the header is malformed.
 */
export function readBerHeader(
  bytes: Buffer,
  at: number,
): BerHeader | undefined {
  if (bytes.length < at + 2) {
    return undefined;
  }
  const tag = bytes[at];
  const first = bytes[at + 1];
  const octets = first < 0x80 ? 0 : first - 0x80;
  if (first === 0x80 || octets > MAX_LENGTH_OCTETS) {
    throw new ProtocolError('Invalid length of an element');
  }
  const start = at + 2 + octets;
  if (bytes.length < start) {
    return undefined;
  }
  const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
  return { tag, start, end: start + length };
}

/**
 * Reads the elements of a message in order. Each method throws a
 * {@link ProtocolError} when the next element does not have the expected tag or
 * extends beyond its parent element.
 */
export class BerCursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Offset of the next element. */
  get at(): number {
    return this.#at;
  }

  /** Returns the tag of the next element before `limit`, if there is one. */
  peek(limit: number): number | undefined {
    return this.#at < limit ? this.#bytes[this.#at] : undefined;
  }

  /** Moves to the content of an element and returns the offset of its end. */
  enter(tag: number, limit: number): number {
    const header = readBerHeader(this.#bytes, this.#at);
    if (header?.tag !== tag || header.end > limit) {
      throw new ProtocolError('Unexpected element in a message');
    }
    this.#at = header.start;
    return header.end;
  }

  /** Requires that the element that ends at `end` has no further content. */
  leave(end: number): void {
    if (this.#at !== end) {
      throw new ProtocolError('Unexpected content in a message');
    }
  }

  /** Skips an element without reading its content. */
  skip(tag: number, limit: number): void {
    this.#at = this.enter(tag, limit);
  }

  /** Skips the next element if it has this tag. */
  skipOptional(tag: number, limit: number): void {
    if (this.peek(limit) === tag) {
      this.skip(tag, limit);
    }
  }

  /** Skips all elements before `limit`, whatever their tags. */
  skipRest(limit: number): void {
    while (this.#at < limit) {
      this.skip(this.#bytes[this.#at], limit);
    }
  }

  /** Reads the content of an element and advances past it. */
  readOctets(tag: number, limit: number): Buffer {
    const end = this.enter(tag, limit);
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return content;
  }

  /** Reads an integer of at most four octets and advances past it. */
  readInteger(tag: number, limit: number): number {
    const octets = this.readOctets(tag, limit);
    if (octets.length < 1 || octets.length > 4) {
      throw new ProtocolError('Invalid length of an integer');
    }
    return octets.readIntBE(0, octets.length);
  }
}
