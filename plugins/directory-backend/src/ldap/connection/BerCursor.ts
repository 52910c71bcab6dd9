/** A stream that is not what the protocol allows. */
export class ProtocolError extends Error {
  override name = 'ProtocolError' as const;
}

/** Tag, and where the content begins and ends. */
interface BerHeader {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Length octets beyond these would count more than 4 GiB. */
const MAX_LENGTH_OCTETS = 4;

/**
 * The header of the element at an offset, in the subset of BER that LDAP uses
 * (RFC 4511 §5.1); `undefined` when it is not complete yet.
 *
 * @throws ProtocolError when no further byte could make it one.
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
  const start = at + 2;
  if (first < 0x80) {
    return { tag, start, end: start + first };
  }
  const octets = first - 0x80;
  if (octets === 0 || octets > MAX_LENGTH_OCTETS) {
    throw new ProtocolError('A length is not one of LDAP');
  }
  if (bytes.length < start + octets) {
    return undefined;
  }
  const content = start + octets;
  return {
    tag,
    start: content,
    end: content + bytes.readUIntBE(start, octets),
  };
}

/**
 * Walks a whole message and throws a {@link ProtocolError} at the first element
 * that is not the expected one, or does not fit into the one around it.
 */
export class BerCursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The offset of the next element. */
  get at(): number {
    return this.#at;
  }

  /** The tag of the next element of an element that ends at `limit`. */
  peek(limit: number): number | undefined {
    return this.#at < limit ? this.#bytes[this.#at] : undefined;
  }

  /** Goes into an element and gives the offset of its end. */
  enter(tag: number, limit: number): number {
    const header = readBerHeader(this.#bytes, this.#at);
    if (header?.tag !== tag || header.end > limit) {
      throw new ProtocolError('A message is not one of LDAP');
    }
    this.#at = header.start;
    return header.end;
  }

  /** Checks that the element that ends here has nothing further in it. */
  leave(end: number): void {
    if (this.#at !== end) {
      throw new ProtocolError('A message is not one of LDAP');
    }
  }

  /** Goes past an element without a look inside. */
  skip(tag: number, limit: number): void {
    this.#at = this.enter(tag, limit);
  }

  /** Goes past all elements up to `limit`, whatever they are. */
  skipRest(limit: number): void {
    while (this.#at < limit) {
      this.skip(this.#bytes[this.#at], limit);
    }
  }

  /** Reads the content of an element and goes past it. */
  readOctets(tag: number, limit: number): Buffer {
    const end = this.enter(tag, limit);
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return content;
  }

  /** Reads an integer of at most four octets and goes past it. */
  readInteger(tag: number, limit: number): number {
    const end = this.enter(tag, limit);
    const octets = end - this.#at;
    if (octets < 1 || octets > 4) {
      throw new ProtocolError('A number is not one of LDAP');
    }
    const value = this.#bytes.readIntBE(this.#at, octets);
    this.#at = end;
    return value;
  }
}

const SEQUENCE = 0x30;

/** No answer is as long; a length beyond this is a broken stream. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Cuts what a server sends into messages (RFC 4511 §4.1.1). */
export class LdapMessageStream {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = 2;

  /**
   * Takes the next bytes and gives the messages that are whole with them.
   *
   * @throws ProtocolError when the stream is not one of messages.
   */
  *push(data: Buffer): Iterable<Buffer> {
    this.#chunks.push(data);
    this.#bytes += data.length;
    while (this.#bytes >= this.#needed) {
      const bytes =
        this.#chunks.length === 1
          ? this.#chunks[0]
          : Buffer.concat(this.#chunks);
      const end = endOfMessage(bytes);
      if (end === undefined || end > bytes.length) {
        this.#keep(bytes, end ?? bytes.length + 1);
        return;
      }
      this.#keep(bytes.subarray(end), 2);
      yield bytes.subarray(0, end);
    }
  }

  #keep(bytes: Buffer, needed: number): void {
    this.#chunks = bytes.length > 0 ? [bytes] : [];
    this.#bytes = bytes.length;
    this.#needed = needed;
  }
}

function endOfMessage(bytes: Buffer): number | undefined {
  const header = readBerHeader(bytes, 0);
  if (header && (header.tag !== SEQUENCE || header.end > MAX_MESSAGE_BYTES)) {
    throw new ProtocolError('The stream is not one of LDAP messages');
  }
  return header?.end;
}
