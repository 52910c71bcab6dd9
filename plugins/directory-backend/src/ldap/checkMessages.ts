import { toError } from '@backstage/errors';
import type { Client } from 'ldapts';
import { EventEmitter } from 'node:events';
import { JunkError } from './BerCursor';
import { checkLdapMessage } from './checkLdapMessage';
import { LdapMessageStream } from './LdapMessageStream';

/** What the library's client hands its socket's bytes to. */
interface MessageParser extends EventEmitter {
  read(data: Buffer, pending: ReadonlyMap<string, unknown>): void;
}

/**
 * Lets a client's parser see nothing but whole, sound messages that answer
 * what was asked on this connection. By itself the library drops what it
 * cannot read or place, and goes on with what comes next: an entry may then be
 * missing from an answer, or stand in another one.
 *
 * `onJunk` is called at the first message that is none of these, when the
 * stream cannot be trusted any more; it should close the connection. A message
 * that `isTaken` takes for itself does not reach the library.
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
  let isJunk = false;
  parser.read = (data, pending) => {
    try {
      for (const message of isJunk ? [] : stream.push(data)) {
        // A notice of disconnection (RFC 4511 §4.4.1) has the id 0: it too
        // means that nothing further comes.
        if (!pending.has(String(checkLdapMessage(message)))) {
          throw new JunkError('A message answers nothing that was asked');
        }
        if (!isTaken(message)) {
          read(message, pending);
        }
      }
    } catch (error) {
      isJunk = true;
      onJunk(toError(error));
    }
  };
  parser.on('error', onJunk);
}

function isMessageParser(parser: unknown): parser is MessageParser {
  return parser instanceof EventEmitter && 'read' in parser;
}
