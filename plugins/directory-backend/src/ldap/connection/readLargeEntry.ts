import { Attribute, SearchEntry } from 'ldapts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { BerCursor } from './BerCursor';
import {
  checkControls,
  INTEGER,
  OCTET_STRING,
  SEARCH_ENTRY,
  SEQUENCE,
  SET,
} from './checkMessages';

/** Size in bytes that ldapts parses in about two milliseconds. */
const LARGE_MESSAGE_BYTES = 64 * 1024;

/** Time for which the event loop is blocked by one slice of an entry. */
const SLICE_MS = 2;

/** Values that are read between two looks at the clock. */
const VALUES_PER_CHECK = 64;

const utf8 = new TextDecoder('utf8', { fatal: true });

/** Whether a message is a search result entry that takes long to parse. */
export function isLargeEntry(message: Buffer): boolean {
  if (message.length < LARGE_MESSAGE_BYTES) {
    return false;
  }
  const cursor = new BerCursor(message);
  const end = cursor.enter(SEQUENCE, message.length);
  cursor.skip(INTEGER, end);
  return cursor.peek(end) === SEARCH_ENTRY;
}

/**
 * Checks and parses a search result entry in slices of about two milliseconds,
 * so that a group of 89,000 members does not block the event loop. Accepts what
 * `checkLdapMessage` accepts, and returns what the parser of ldapts would,
 * except for the controls, which the gateway does not read.
 *
 * @throws ProtocolError when the message does not follow the grammar of RFC 4511.
 */
export async function readLargeEntry(message: Buffer): Promise<SearchEntry> {
  const cursor = new BerCursor(message);
  const end = cursor.enter(SEQUENCE, message.length);
  const messageId = cursor.readInteger(INTEGER, end);
  const entryEnd = cursor.enter(SEARCH_ENTRY, end);
  const name = cursor.readOctets(OCTET_STRING, entryEnd).toString();
  const attributes: Attribute[] = [];
  const listEnd = cursor.enter(SEQUENCE, entryEnd);
  let sliceEnd = performance.now() + SLICE_MS;
  let read = 0;
  while (cursor.at < listEnd) {
    const attributeEnd = cursor.enter(SEQUENCE, listEnd);
    const type = cursor.readOctets(OCTET_STRING, attributeEnd).toString();
    const values: (string | Buffer)[] = [];
    const attribute = new Attribute({ type, values: values as string[] });
    const decode = /;binary$/i.test(type) ? () => undefined : decodeText;
    const setEnd = cursor.enter(SET, attributeEnd);
    while (cursor.at < setEnd) {
      const octets = cursor.readOctets(OCTET_STRING, setEnd);
      attribute.parsedBuffers.push(octets);
      values.push(decode(octets) ?? octets);
      if (++read % VALUES_PER_CHECK === 0 && performance.now() > sliceEnd) {
        await nextTurn();
        sliceEnd = performance.now() + SLICE_MS;
      }
    }
    cursor.leave(setEnd);
    cursor.leave(attributeEnd);
    attributes.push(attribute);
  }
  cursor.leave(listEnd);
  cursor.leave(entryEnd);
  checkControls(cursor, end);
  cursor.leave(end);
  cursor.leave(message.length);
  return new SearchEntry({ messageId, name, attributes });
}

/** As in ldapts: `undefined` for a value that is not UTF-8 and stays binary. */
function decodeText(octets: Buffer): string | undefined {
  try {
    return utf8.decode(octets);
  } catch {
    return undefined;
  }
}
