import { type Socket, connect } from 'node:net';
import type { z } from 'zod';
import {
  type SignCertificateRequest,
  type CertificateSigner,
  type IssuerDescription,
  type LoggedCertificate,
  type SignRevocationListRequest,
  SignerLimitError,
  SignerRefusalError,
  SignerUnavailableError,
} from '../CertificateSigner';
import {
  type ErrorMessage,
  LineReader,
  MAX_LINE_BYTES,
  METHODS,
  type ResponseMessage,
  loggedCertificate,
  readLine,
  responseMessage,
  writeLine,
} from './messages';

/**
 * Options of {@link SocketSigner}.
 *
 * @public
 */
export interface SocketSignerOptions {
  /** Absolute path of the Unix socket of `directory-ca serve`. */
  readonly path: string;
  /**
   * Maximum time to wait for a response, in milliseconds. Default: 10 seconds.
   */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** The connection was closed while a request was in flight. */
class ConnectionLostError extends SignerUnavailableError {}

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

class Connection {
  /** Whether requests can be sent. */
  isOpen = true;
  readonly #path: string;
  readonly #socket: Socket;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #wasConnected = false;
  #receivedAt = -Infinity;

  constructor(path: string) {
    this.#path = path;
    this.#socket = open(path);
    this.#socket.once('connect', () => {
      this.#wasConnected = true;
    });
    void this.#read();
  }

  /**
   * Sends a request and returns its result.
   *
   * @throws ConnectionLostError when the connection closes before the response.
   * @throws SignerUnavailableError when the connection cannot be opened, or the
   *   response does not arrive in time.
   */
  async send(
    request: { readonly method: string; readonly params: unknown },
    timeoutMs: number,
  ): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { method, params } = request;
    const line = Buffer.from(writeLine({ id, method, params }));
    if (line.length > MAX_LINE_BYTES) {
      throw new SignerRefusalError('The request is too long.');
    }
    return await new Promise((resolve, reject) => {
      const sentAt = performance.now();
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(
          new SignerUnavailableError(`No response from ${this.#path} in time`),
        );
        if (this.#receivedAt < sentAt) {
          // The process may hang; by now, a new one may listen.
          this.destroy();
        }
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket.write(line);
    });
  }

  destroy(): void {
    this.isOpen = false;
    this.#socket.destroy();
  }

  async #read(): Promise<void> {
    let reason: unknown;
    try {
      for await (const message of readMessages(this.#socket)) {
        this.#receivedAt = performance.now();
        this.#settle(message);
      }
    } catch (error) {
      reason = error;
    }
    this.isOpen = false;
    const error = this.#wasConnected
      ? new ConnectionLostError(`Lost the connection to ${this.#path}`, reason)
      : new SignerUnavailableError(`Cannot connect to ${this.#path}`, reason);
    for (const request of this.#pending.values()) {
      clearTimeout(request.timer);
      request.reject(error);
    }
    this.#pending.clear();
  }

  #settle(message: ResponseMessage): void {
    const request = this.#pending.get(message.id);
    if (!request || 'item' in message) {
      // The response arrived after the timeout.
      return;
    }
    this.#pending.delete(message.id);
    clearTimeout(request.timer);
    if ('error' in message) {
      request.reject(toError(message.error));
    } else {
      request.resolve(message.result);
    }
  }
}

/**
 * The signer in a separate process, `directory-ca serve`. Requests share a
 * connection, which the first request opens. When the connection is lost, requests
 * in flight are sent once more, except CRL requests, whose number would be refused.
 *
 * @public
 */
export class SocketSigner implements CertificateSigner {
  readonly #path: string;
  readonly #timeoutMs: number;
  #connection: Connection | undefined;
  /** Connections that read the log. */
  readonly #readers = new Set<Socket>();
  #isClosed = false;

  constructor(options: SocketSignerOptions) {
    this.#path = options.path;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** {@inheritDoc CertificateSigner.describe} */
  async describe(): Promise<{
    readonly issuers: readonly IssuerDescription[];
  }> {
    return await this.#call('describe', METHODS.describe, {});
  }

  /** {@inheritDoc CertificateSigner.signCertificate} */
  async signCertificate(request: SignCertificateRequest): Promise<Buffer> {
    return await this.#call(
      'signCertificate',
      METHODS.signCertificate,
      request,
    );
  }

  /** {@inheritDoc CertificateSigner.signRevocationList} */
  async signRevocationList(
    request: SignRevocationListRequest,
  ): Promise<Buffer> {
    const method = 'signRevocationList';
    // A retry would be refused, because it has the same number.
    return await this.#call(method, METHODS[method], request, { attempts: 1 });
  }

  /** {@inheritDoc CertificateSigner.blockKey} */
  async blockKey(request: { readonly publicKeySha256: string }): Promise<void> {
    await this.#call('blockKey', METHODS.blockKey, request);
  }

  /**
   * Returns the certificates of the issuance log, oldest first within each process
   * that wrote them. Uses a separate connection, which is read only as fast as the
   * caller reads.
   */
  async *loggedCertificates(): AsyncGenerator<LoggedCertificate, void> {
    this.#requireOpen();
    const socket = open(this.#path);
    this.#readers.add(socket);
    try {
      const request = { id: 1, method: 'loggedCertificates', params: {} };
      socket.write(writeLine(request));
      const messages = readMessages(socket);
      for (;;) {
        const message = await this.#nextMessage(messages, socket);
        if ('error' in message) {
          throw toError(message.error);
        }
        if ('result' in message) {
          decode(METHODS.loggedCertificates.result, message.result);
          return;
        }
        const entry = decode(loggedCertificate, message.item);
        yield { ...entry, revocation: entry.revocation };
      }
    } finally {
      socket.destroy();
      this.#readers.delete(socket);
    }
  }

  /** {@inheritDoc CertificateSigner.close} */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#connection?.destroy();
    this.#readers.forEach(socket => socket.destroy());
  }

  #requireOpen(): void {
    if (this.#isClosed) {
      throw new SignerUnavailableError('The signer is closed');
    }
  }

  async #call<P extends z.ZodType, R extends z.ZodType>(
    method: string,
    schemas: { readonly params: P; readonly result: R },
    content: z.output<P>,
    options: { readonly attempts?: number } = {},
  ): Promise<z.output<R>> {
    const params = schemas.params.safeEncode(content);
    if (!params.success) {
      throw new SignerRefusalError(
        'A value of the request is too long, too large or invalid.',
      );
    }
    const request = { method, params: params.data };
    const deadline = performance.now() + this.#timeoutMs;
    for (let attempts = options.attempts ?? 2; ; attempts -= 1) {
      try {
        const connection = this.#connect();
        return decode(
          schemas.result,
          await connection.send(request, deadline - performance.now()),
        );
      } catch (error) {
        if (attempts === 1 || !(error instanceof ConnectionLostError)) {
          throw error;
        }
      }
    }
  }

  #connect(): Connection {
    this.#requireOpen();
    if (!this.#connection?.isOpen) {
      this.#connection = new Connection(this.#path);
    }
    return this.#connection;
  }

  async #nextMessage(
    messages: AsyncGenerator<ResponseMessage, void>,
    socket: Socket,
  ): Promise<ResponseMessage> {
    const timer = setTimeout(
      () => socket.destroy(new Error('No response in time')),
      this.#timeoutMs,
    );
    try {
      const next = await messages.next();
      if (!next.done) {
        return next.value;
      }
    } catch (error) {
      throw new SignerUnavailableError(
        `Lost the connection to ${this.#path}`,
        error,
      );
    } finally {
      clearTimeout(timer);
    }
    throw new SignerUnavailableError(`Lost the connection to ${this.#path}`);
  }
}

/** Opens a connection. Errors end the iteration of the socket. */
function open(path: string): Socket {
  return connect(path).on('error', () => {});
}

/** Reads messages. The socket is destroyed at the end of the iteration. */
async function* readMessages(
  socket: Socket,
): AsyncGenerator<ResponseMessage, void> {
  const lines = new LineReader();
  for await (const chunk of socket) {
    for (const line of lines.read(chunk)) {
      yield readLine(line, responseMessage);
    }
  }
}

/** @throws SignerUnavailableError when the value does not match the schema. */
function decode<T extends z.ZodType>(schema: T, json: unknown): z.output<T> {
  const result = schema.safeParse(json);
  if (!result.success) {
    throw new SignerUnavailableError(
      'The signing process sent an invalid response',
    );
  }
  return result.data;
}

function toError(error: ErrorMessage): Error {
  switch (error.kind) {
    case 'refused':
      return new SignerRefusalError(error.message);
    case 'limited':
      return new SignerLimitError(error.message);
    default:
      return new SignerUnavailableError(
        'The signing process is not available; see its log for the reason',
      );
  }
}
