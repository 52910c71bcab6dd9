import { toError } from '@backstage/errors';
import type { Client } from 'ldapts';
import { EventEmitter } from 'node:events';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ProtocolError } from './BerCursor';
import { LdapMessageStream, parseMessage } from './ldapMessages';

/** Requests of a connection without a final response, by message ID. */
type PendingRequests = ReadonlyMap<string, unknown>;

/** The private parser of an ldapts client, which receives the socket's bytes. */
interface MessageParser extends EventEmitter {
  read(data: Buffer, pending: PendingRequests): void;
}

/**
 * Restricts a client's parser to complete, well-formed messages that respond to
 * a pending request on this connection. ldapts alone drops messages that it
 * cannot parse or assign, and continues with the next message: an entry could
 * be missing from a result or appear in another result. Large entries are parsed
 * in slices, during which later messages wait.
 *
 * Uses the private `messageParser` of ldapts, whose version is therefore
 * pinned.
 *
 * `onProtocolError` is called at the first invalid message, after which the
 * stream cannot be trusted; it should close the connection. A message for which
 * `handles` returns true is not passed on to ldapts.
 */
export function checkMessages(
  client: Client,
  {
    onProtocolError,
    handles = () => false,
  }: {
    readonly onProtocolError: (error: Error) => void;
    readonly handles?: (message: Buffer) => boolean;
  },
): void {
  const parser: unknown = Reflect.get(client, 'messageParser');
  if (!isMessageParser(parser)) {
    throw new Error('This version of ldapts is not supported');
  }
  const stream = new LdapMessageStream();
  const read = parser.read.bind(parser);
  const waiting: Buffer[] = [];
  let isHandling = false;
  let isBroken = false;

  const fail = (error: unknown) => {
    if (!isBroken) {
      isBroken = true;
      waiting.length = 0;
      onProtocolError(toError(error));
    }
  };
  /** Asynchronous only while it parses a large entry. */
  const handleWaiting = async (pending: PendingRequests) => {
    isHandling = true;
    while (waiting.length > 0) {
      const message = waiting.shift()!;
      const parsing = parseMessage(message);
      let step = parsing.next();
      while (!step.done) {
        await yieldToEventLoop();
        step = parsing.next();
      }
      const { id, entry } = step.value;
      requirePending(id, pending);
      if (!handles(message)) {
        if (entry) {
          parser.emit('message', entry);
        } else {
          read(message, pending);
        }
      }
    }
    isHandling = false;
  };
  parser.read = (data, pending) => {
    try {
      for (const message of isBroken ? [] : stream.push(data)) {
        waiting.push(message);
        if (!isHandling) {
          handleWaiting(pending).catch(fail);
        }
      }
    } catch (error) {
      fail(error);
    }
  };
  parser.on('error', onProtocolError);
}

function requirePending(id: number, pending: PendingRequests): void {
  // A notice of disconnection (RFC 4511 §4.4.1) has the ID 0 and is also the
  // last message.
  if (!pending.has(String(id))) {
    throw new ProtocolError(
      'The message does not respond to a pending request',
    );
  }
}

function isMessageParser(parser: unknown): parser is MessageParser {
  return parser instanceof EventEmitter && 'read' in parser;
}
