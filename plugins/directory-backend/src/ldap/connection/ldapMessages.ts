import { Attribute, SearchEntry } from 'ldapts';
import { TextDecoder } from 'node:util';
import { BerCursor, ProtocolError, readBerHeader, tags } from './BerCursor';

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
  const cursor = new BerCursor(message);
  const end = cursor.enter(tags.sequence, message.length);
  return cursor.readInteger(tags.integer, end);
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
  readonly entry?: SearchEntry;
}

/**
 * Checks a server's message against the grammar of RFC 4511 and parses it if it
 * is a search result entry. The parser of ldapts is lenient: it never returns
 * when a length in an entry is wrong, and omits values when a tag is wrong.
 *
 * Yields after each slice of about two milliseconds, so that the caller can
 * keep a group with 89,000 members from blocking the event loop. Returns the
 * same entry as ldapts, except for controls, which the gateway does not read.
 *
 * @throws ProtocolError when the message is malformed or is not a response to a
 *   request that the gateway sends.
 */
export function* parseMessage(
  message: Buffer,
): Generator<undefined, ParsedMessage> {
  const cursor = new BerCursor(message);
  const end = cursor.enter(tags.sequence, message.length);
  const id = cursor.readInteger(tags.integer, end);
  const operation = cursor.peek(end);
  let entry: SearchEntry | undefined;
  switch (operation) {
    case tags.searchEntry:
      entry = new SearchEntry({
        messageId: id,
        ...(yield* parseEntry(cursor, cursor.enter(operation, end))),
      });
      break;
    case tags.searchReference:
      skipAll(cursor, cursor.enter(operation, end));
      break;
    case tags.bindResponse:
    case tags.searchDone:
    case tags.extendedResponse:
      checkResult(cursor, cursor.enter(operation, end));
      break;
    default:
      throw new ProtocolError(
        'The message is not a response to a request from the gateway',
      );
  }
  checkControls(cursor, end);
  cursor.leave(end);
  cursor.leave(message.length);
  return { id, operation, entry };
}

/** `SEQUENCE { name, attributes: SEQUENCE OF { type, values: SET OF } }`. */
function* parseEntry(
  cursor: BerCursor,
  end: number,
): Generator<undefined, { name: string; attributes: Attribute[] }> {
  const name = cursor.readOctets(tags.octetString, end).toString();
  const attributes: Attribute[] = [];
  const listEnd = cursor.enter(tags.sequence, end);
  let sliceEnd = performance.now() + SLICE_MS;
  let read = 0;
  while (cursor.at < listEnd) {
    const attributeEnd = cursor.enter(tags.sequence, listEnd);
    const type = cursor.readOctets(tags.octetString, attributeEnd).toString();
    const values: (string | Buffer)[] = [];
    const attribute = new Attribute({ type, values: values as string[] });
    const isBinary = /;binary$/i.test(type);
    const setEnd = cursor.enter(tags.set, attributeEnd);
    while (cursor.at < setEnd) {
      const octets = cursor.readOctets(tags.octetString, setEnd);
      attribute.parsedBuffers.push(octets);
      values.push(isBinary ? octets : decodeText(octets));
      if (++read % VALUES_PER_CHECK === 0 && performance.now() > sliceEnd) {
        yield;
        sliceEnd = performance.now() + SLICE_MS;
      }
    }
    cursor.leave(setEnd);
    cursor.leave(attributeEnd);
    attributes.push(attribute);
  }
  cursor.leave(listEnd);
  cursor.leave(end);
  return { name, attributes };
}

/**
 * Decodes UTF-8. Like in ldapts, a value that is not UTF-8 remains a buffer.
 */
function decodeText(octets: Buffer): string | Buffer {
  try {
    return utf8.decode(octets);
  } catch {
    return octets;
  }
}

/** `LDAPResult`: code, DN, message, and elements that depend on the operation. */
function checkResult(cursor: BerCursor, end: number): void {
  cursor.readInteger(tags.enumerated, end);
  cursor.skip(tags.octetString, end);
  cursor.skip(tags.octetString, end);
  cursor.skipRest(end);
  cursor.leave(end);
}

/** Checks the optional controls of a message that ends at `limit`. */
function checkControls(cursor: BerCursor, limit: number): void {
  if (cursor.peek(limit) !== tags.controls) {
    return;
  }
  const listEnd = cursor.enter(tags.controls, limit);
  while (cursor.at < listEnd) {
    const end = cursor.enter(tags.sequence, listEnd);
    cursor.skip(tags.octetString, end);
    cursor.skipOptional(tags.boolean, end);
    cursor.skipOptional(tags.octetString, end);
    cursor.leave(end);
  }
  cursor.leave(listEnd);
}

function skipAll(cursor: BerCursor, end: number): void {
  while (cursor.at < end) {
    cursor.skip(tags.octetString, end);
  }
  cursor.leave(end);
}
