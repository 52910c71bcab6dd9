import type { Entry } from 'ldapts';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  emptyEntry,
  idOf,
  LdapMessageStream,
  type ParsedMessage,
  parseMessage,
  ProtocolError,
  tags,
} from './ldapMessages';

/**
 * Socket of an ldapts client that receives only complete, well-formed messages
 * that respond to the pending request. ldapts alone drops messages that it
 * cannot parse or assign, and continues with the next message: an entry could be
 * missing from a result or appear in another result. The first invalid message
 * destroys the socket.
 *
 * The entries of a search are not passed on to ldapts, which would parse each in
 * one turn of the event loop. They are parsed in slices, during which later
 * messages wait, and returned by {@link takeEntries}. Therefore, only one
 * request may be pending.
 */
export class CheckedSocket extends Duplex {
  /** State of the connection; ldapts does not connect an open socket again. */
  readonly connecting = false;
  readonly readyState = 'open';
  readonly #socket: Socket;
  readonly #stream = new LdapMessageStream();
  readonly #waiting: Buffer[] = [];
  readonly #receive = (data: Buffer) => this.#add(data);
  #entries: Entry[] = [];
  #pendingId: number | undefined;
  #isHandling = false;

  /** @param socket - a connected socket, which this one owns */
  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket
      .on('data', this.#receive)
      .on('error', error => this.destroy(error))
      .on('close', () => this.destroy());
    // ldapts removes the listeners for errors while it connects.
    this.on('error', () => {});
  }

  /** Whether the socket is open in both directions. */
  get isOpen(): boolean {
    return !this.destroyed && this.#socket.writable;
  }

  /** Returns the entries of the last search, once. */
  takeEntries(): readonly Entry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  /**
   * Returns the underlying socket, for TLS.
   *
   * @throws ProtocolError when bytes have been received that would count as
   *   encrypted ones.
   */
  detach(): Socket {
    this.#socket.off('data', this.#receive);
    if (this.#stream.bytes > 0 || this.#waiting.length > 0) {
      throw new ProtocolError('Unexpected bytes before TLS');
    }
    return this.#socket;
  }

  override _read(): void {}

  override _write(
    message: Buffer,
    _encoding: BufferEncoding,
    callback: () => void,
  ): void {
    this.#pendingId = idOf(message);
    this.#entries = [];
    this.#socket.write(message);
    // Not delayed until the system has taken the request, which does not happen
    // when the other end hangs.
    callback();
  }

  override _final(callback: () => void): void {
    this.#socket.end();
    callback();
  }

  override _destroy(
    error: Error | null,
    callback: (error: Error | null) => void,
  ): void {
    this.#waiting.length = 0;
    this.#socket.destroy();
    callback(error);
  }

  #add(data: Buffer): void {
    try {
      this.#waiting.push(...this.#stream.push(data));
    } catch (error) {
      this.destroy(error as Error);
    }
    if (!this.#isHandling) {
      this.#handleWaiting().catch(error => this.destroy(error));
    }
  }

  /** Asynchronous only while it parses a large entry. */
  async #handleWaiting(): Promise<void> {
    this.#isHandling = true;
    while (this.#waiting.length > 0) {
      const message = this.#waiting.shift()!;
      const parsing = parseMessage(message);
      let step = parsing.next();
      while (!step.done) {
        await yieldToEventLoop();
        step = parsing.next();
      }
      if (!this.destroyed) {
        this.#handle(message, step.value);
      }
    }
    this.#isHandling = false;
  }

  #handle(message: Buffer, { id, operation, entry }: ParsedMessage): void {
    // A notice of disconnection (RFC 4511 §4.4.1) has the ID 0 and is also the
    // last message.
    if (id !== this.#pendingId) {
      throw new ProtocolError(
        'The message does not respond to a pending request',
      );
    }
    if (entry) {
      this.#entries.push(entry);
    } else if (operation !== tags.searchReference) {
      this.#pendingId = undefined;
      this.push(
        operation === tags.searchDone
          ? // ldapts requests the next page only if this page has an entry.
            Buffer.concat([emptyEntry(id), message])
          : message,
      );
    }
  }
}
