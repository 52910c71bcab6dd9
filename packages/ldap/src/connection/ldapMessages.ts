import type { Entry } from 'ldapts';
import { TextDecoder } from 'node:util';

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

/** Maximum number of length octets, for lengths below 4 GiB. */
const MAX_LENGTH_OCTETS = 4;

/** Maximum size of a message; a longer one means that the stream is corrupt. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/**
 * Maximum time in milliseconds for which a slice of an entry blocks the event
 * loop.
 */
const SLICE_MS = 2;

/** Number of values to read between checks of the time. */
const VALUES_PER_CHECK = 64;

const utf8 = new TextDecoder('utf8', { fatal: true });

/** Error for bytes that do not follow RFC 4511. */
export class ProtocolError extends Error {
  override name = 'ProtocolError' as const;
}

/**
 * Returns the tag of the element at an offset and where its content begins and
 * ends, in the subset of BER that LDAP uses (RFC 4511 §5.1); `undefined` when
 * the header is not complete yet.
 *
 * @throws ProtocolError when the header is malformed.
 */
export function readBerHeader(bytes: Buffer, at: number) {
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
 * Elements in the content of another one, read in order. Methods throw a
 * {@link ProtocolError} when the next element is missing, has another tag, or
 * does not end within the content.
 */
class Elements {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Tag of the next element; `undefined` at the end. */
  get tag(): number | undefined {
    return this.#at < this.#end ? this.#bytes[this.#at] : undefined;
  }

  /** Returns the content of the next element. */
  next(tag: number): Buffer {
    const { start, end } = this.#advance(tag);
    return this.#bytes.subarray(start, end);
  }

  /** Returns the elements in the next element. */
  enter(tag: number): Elements {
    const { start, end } = this.#advance(tag);
    return new Elements(this.#bytes, start, end);
  }

  /** Skips the next element if it has this tag. */
  skipOptional(tag: number): void {
    if (this.tag === tag) {
      this.next(tag);
    }
  }

  /** Reads an integer of at most four octets. */
  integer(tag: number): number {
    const octets = this.next(tag);
    if (octets.length < 1 || octets.length > 4) {
      throw new ProtocolError('Invalid length of an integer');
    }
    return octets.readIntBE(0, octets.length);
  }

  /** Requires that all elements were read. */
  end(): void {
    if (this.tag !== undefined) {
      throw new ProtocolError('Unexpected content in a message');
    }
  }

  #advance(tag: number): { readonly start: number; readonly end: number } {
    const header = readBerHeader(this.#bytes, this.#at);
    if (header?.tag !== tag || header.end > this.#end) {
      throw new ProtocolError('Unexpected element in a message');
    }
    this.#at = header.end;
    return header;
  }
}

/** Splits the bytes of a connection into messages (RFC 4511 §4.1.1). */
export class LdapMessageStream {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = 2;

  /** Number of bytes of the incomplete message. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Yields the messages that these bytes complete.
   *
   * @throws ProtocolError when the bytes are not LDAP messages.
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
  if (
    header &&
    (header.tag !== tags.sequence || header.end > MAX_MESSAGE_BYTES)
  ) {
    throw new ProtocolError('The received bytes are not LDAP messages');
  }
  return header?.end;
}

/** Returns the ID of a message. */
export function idOf(message: Buffer): number {
  return new Elements(message).enter(tags.sequence).integer(tags.integer);
}

/** Returns an entry without a name and attributes. */
export function emptyEntry(id: number): Buffer {
  const message = Buffer.from('300c020400000000640404003000', 'hex');
  message.writeInt32BE(id, 4);
  return message;
}

/** A message and, if it has one, its entry. */
export interface ParsedMessage {
  readonly id: number;
  /** Tag of the operation. */
  readonly operation: number;
  readonly entry?: Entry;
}

/**
 * Checks a server's message against the grammar of RFC 4511 and parses it if it
 * is a search result entry. The parser of ldapts is lenient: it never returns
 * when a length in an entry is wrong, and omits values when a tag is wrong.
 *
 * Yields after each slice of about two milliseconds, so that the caller can
 * keep a group with 89,000 members from blocking the event loop. Returns the
 * same entry as ldapts, without controls and attributes that the entry lacks.
 *
 * @throws ProtocolError when the message is malformed or is not a response to a
 *   request that the gateway sends.
 */
export function* parseMessage(
  message: Buffer,
): Generator<undefined, ParsedMessage> {
  const whole = new Elements(message);
  const elements = whole.enter(tags.sequence);
  whole.end();
  const id = elements.integer(tags.integer);
  const operation = elements.tag;
  let entry: Entry | undefined;
  switch (operation) {
    case tags.searchEntry:
      entry = yield* parseEntry(elements.enter(operation));
      break;
    case tags.searchReference:
      checkReference(elements.enter(operation));
      break;
    case tags.bindResponse:
    case tags.searchDone:
    case tags.extendedResponse:
      checkResult(elements.enter(operation));
      break;
    default:
      throw new ProtocolError(
        'The message is not a response to a request from the gateway',
      );
  }
  if (elements.tag !== undefined) {
    checkControls(elements.enter(tags.controls));
  }
  elements.end();
  return { id, operation, entry };
}

/** `SEQUENCE { name, attributes: SEQUENCE OF { type, values: SET OF } }`. */
function* parseEntry(elements: Elements): Generator<undefined, Entry> {
  const entry: Entry = { dn: elements.next(tags.octetString).toString() };
  const list = elements.enter(tags.sequence);
  elements.end();
  let sliceEnd = performance.now() + SLICE_MS;
  let read = 0;
  while (list.tag !== undefined) {
    const attribute = list.enter(tags.sequence);
    const type = attribute.next(tags.octetString).toString();
    const set = attribute.enter(tags.set);
    attribute.end();
    const octets: Buffer[] = [];
    const texts: string[] = [];
    const isText = !/;binary$/i.test(type);
    while (set.tag !== undefined) {
      const value = set.next(tags.octetString);
      octets.push(value);
      const text = isText ? decodeText(value) : undefined;
      if (text !== undefined) {
        texts.push(text);
      }
      if (++read % VALUES_PER_CHECK === 0 && performance.now() > sliceEnd) {
        yield;
        sliceEnd = performance.now() + SLICE_MS;
      }
    }
    // As in ldapts, all values are octets if one of them is not UTF-8.
    const values = texts.length === octets.length ? texts : octets;
    entry[type] = values.length === 1 ? values[0] : values;
  }
  return entry;
}

/** Decodes UTF-8; `undefined` for other bytes. */
function decodeText(octets: Buffer): string | undefined {
  try {
    return utf8.decode(octets);
  } catch {
    return undefined;
  }
}

/** `LDAPResult`: code, DN, message, and elements that depend on the operation. */
function checkResult(result: Elements): void {
  result.integer(tags.enumerated);
  result.next(tags.octetString);
  result.next(tags.octetString);
  while (result.tag !== undefined) {
    result.next(result.tag);
  }
}

function checkReference(urls: Elements): void {
  while (urls.tag !== undefined) {
    urls.next(tags.octetString);
  }
}

function checkControls(controls: Elements): void {
  while (controls.tag !== undefined) {
    const control = controls.enter(tags.sequence);
    control.next(tags.octetString);
    control.skipOptional(tags.boolean);
    control.skipOptional(tags.octetString);
    control.end();
  }
}
