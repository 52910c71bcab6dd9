import { toError } from '@backstage/errors';
import type { Client } from 'ldapts';
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JunkError } from './BerCursor';
import { checkLdapMessage } from './checkLdapMessage';
import { LdapMessageStream } from './LdapMessageStream';
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
    throw new JunkError('The message does not respond to a pending request');
  }
}

function isMessageParser(parser: unknown): parser is MessageParser {
  return parser instanceof EventEmitter && 'read' in parser;
}
