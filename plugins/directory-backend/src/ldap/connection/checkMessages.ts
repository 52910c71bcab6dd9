import { toError } from '@backstage/errors';
import type { Client } from 'ldapts';
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BerCursor, ProtocolError, LdapMessageStream } from './BerCursor';
import { isLargeEntry, readLargeEntry } from './readLargeEntry';

/** Requests of a connection without a final response, by message id. */
type PendingRequests = ReadonlyMap<string, unknown>;

/** The parser of an ldapts client, which receives the bytes of its socket. */
interface MessageParser extends EventEmitter {
  read(data: Buffer, pending: PendingRequests): void;
}

/**
 * Restricts a client's parser to whole, well-formed messages that respond to a
 * pending request of this connection. By itself ldapts drops what it cannot
 * parse or assign and continues with the next message: an entry may then be
 * missing from a result, or appear in another one. Large entries are parsed in
 * slices, during which later messages wait.
 *
 * `onJunk` is called at the first message that is not of that kind, when the
 * stream cannot be trusted any more; it should close the connection. A message
 * for which `isTaken` returns true does not reach ldapts.
 */
export function checkMessages(
  client: Client,
  {
    onJunk,
    isTaken = () => false,
  }: {
    readonly onJunk: (error: Error) => void;
    readonly isTaken?: (message: Buffer) => boolean;
  },
): void {
  const parser: unknown = Reflect.get(client, 'messageParser');
  if (!isMessageParser(parser)) {
    throw new Error('This version of ldapts is not known to the gateway');
  }
  const stream = new LdapMessageStream();
  const read = parser.read.bind(parser);
  const waiting: Buffer[] = [];
  let isDraining = false;
  let isJunk = false;

  const fail = (error: unknown) => {
    if (!isJunk) {
      isJunk = true;
      waiting.length = 0;
      onJunk(toError(error));
    }
  };
  const handle = (message: Buffer, pending: PendingRequests) => {
    requirePending(checkLdapMessage(message), pending);
    if (!isTaken(message)) {
      read(message, pending);
    }
  };
  const handleLarge = async (message: Buffer, pending: PendingRequests) => {
    const entry = await readLargeEntry(message);
    requirePending(entry.messageId, pending);
    if (!isTaken(message)) {
      parser.emit('message', entry);
    }
  };
  const drain = async (pending: PendingRequests) => {
    isDraining = true;
    while (waiting.length > 0) {
      const message = waiting.shift()!;
      if (isLargeEntry(message)) {
        await handleLarge(message, pending);
        await nextTurn();
      } else {
        handle(message, pending);
      }
    }
    isDraining = false;
  };
  parser.read = (data, pending) => {
    try {
      for (const message of isJunk ? [] : stream.push(data)) {
        // In the order in which the server sent them.
        if (isDraining || waiting.length > 0 || isLargeEntry(message)) {
          waiting.push(message);
        } else {
          handle(message, pending);
        }
      }
    } catch (error) {
      fail(error);
    }
    if (!isDraining && waiting.length > 0) {
      drain(pending).catch(fail);
    }
  };
  parser.on('error', onJunk);
}

function requirePending(id: number, pending: PendingRequests): void {
  // A notice of disconnection (RFC 4511 §4.4.1) has the id 0: nothing follows
  // it either.
  if (!pending.has(String(id))) {
    throw new ProtocolError('The message does not respond to a pending request');
  }
}

function isMessageParser(parser: unknown): parser is MessageParser {
  return parser instanceof EventEmitter && 'read' in parser;
}

const BOOLEAN = 0x01;
export const INTEGER = 0x02;
export const OCTET_STRING = 0x04;
const ENUMERATED = 0x0a;
export const SEQUENCE = 0x30;
export const SET = 0x31;
const CONTROLS = 0xa0;

/** Responses to the gateway's requests (RFC 4511 §4.2, §4.5.2, §4.12). */
const BIND_RESPONSE = 0x61;
export const SEARCH_ENTRY = 0x64;
const SEARCH_DONE = 0x65;
const SEARCH_REFERENCE = 0x73;
const EXTENDED_RESPONSE = 0x78;

/**
 * Checks a server's message against the grammar of RFC 4511 and returns its
 * message id. The parser of ldapts is lenient: with a wrong length in an entry
 * it never returns, and with a wrong tag it omits values.
 *
 * @throws ProtocolError when the message is not one that the gateway may receive.
 */
export function checkLdapMessage(message: Buffer): number {
  const cursor = new BerCursor(message);
  const end = cursor.enter(SEQUENCE, message.length);
  const id = cursor.readInteger(INTEGER, end);
  checkOperation(cursor, end);
  checkControls(cursor, end);
  cursor.leave(end);
  cursor.leave(message.length);
  return id;
}

function checkOperation(cursor: BerCursor, limit: number): void {
  const operation = cursor.peek(limit);
  switch (operation) {
    case SEARCH_ENTRY:
      return checkEntry(cursor, limit);
    case SEARCH_REFERENCE:
      return skipAll(cursor, cursor.enter(operation, limit), OCTET_STRING);
    case BIND_RESPONSE:
    case SEARCH_DONE:
    case EXTENDED_RESPONSE:
      return checkResult(cursor, cursor.enter(operation, limit));
    default:
      throw new ProtocolError(
        'The message is not a response to a request of the gateway',
      );
  }
}

/** `SEQUENCE { name, attributes: SEQUENCE OF { type, values: SET OF } }`. */
function checkEntry(cursor: BerCursor, limit: number): void {
  const entryEnd = cursor.enter(SEARCH_ENTRY, limit);
  cursor.skip(OCTET_STRING, entryEnd);
  const listEnd = cursor.enter(SEQUENCE, entryEnd);
  while (cursor.at < listEnd) {
    const attributeEnd = cursor.enter(SEQUENCE, listEnd);
    cursor.skip(OCTET_STRING, attributeEnd);
    skipAll(cursor, cursor.enter(SET, attributeEnd), OCTET_STRING);
    cursor.leave(attributeEnd);
  }
  cursor.leave(listEnd);
  cursor.leave(entryEnd);
}

/** `LDAPResult`: code, name, text, and what an operation adds to them. */
function checkResult(cursor: BerCursor, end: number): void {
  cursor.readInteger(ENUMERATED, end);
  cursor.skip(OCTET_STRING, end);
  cursor.skip(OCTET_STRING, end);
  cursor.skipRest(end);
  cursor.leave(end);
}

/** Checks the controls of a message that ends at `limit`, if it has any. */
export function checkControls(cursor: BerCursor, limit: number): void {
  if (cursor.peek(limit) !== CONTROLS) {
    return;
  }
  const listEnd = cursor.enter(CONTROLS, limit);
  while (cursor.at < listEnd) {
    const end = cursor.enter(SEQUENCE, listEnd);
    cursor.skip(OCTET_STRING, end);
    if (cursor.peek(end) === BOOLEAN) {
      cursor.skip(BOOLEAN, end);
    }
    if (cursor.peek(end) === OCTET_STRING) {
      cursor.skip(OCTET_STRING, end);
    }
    cursor.leave(end);
  }
  cursor.leave(listEnd);
}

function skipAll(cursor: BerCursor, end: number, tag: number): void {
  while (cursor.at < end) {
    cursor.skip(tag, end);
  }
  cursor.leave(end);
}
