import { once } from 'node:events';
import { chmod, lstat, rm, stat } from 'node:fs/promises';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { assertError, isError } from '@backstage/errors';
import type { z } from 'zod';
import {
  type CertificateSigner,
  SignerLimitError,
  SignerRefusalError,
} from '../CertificateSigner';
import {
  type ErrorMessage,
  LineReader,
  METHODS,
  MessageError,
  type RequestMessage,
  type ResponseMessage,
  loggedCertificate,
  readLine,
  requestMessage,
  writeLine,
} from './messages';

/**
 * Maximum number of connections. A portal process uses one, and a second one while
 * it reads the log.
 */
const MAX_CONNECTIONS = 16;

/** Limits of a connection. While one is reached, the connection is not read. */
const MAX_IN_FLIGHT = 64;
const MAX_IN_FLIGHT_BYTES = 8 * 1024 * 1024;

/** Maximum time to finish requests in flight when the server closes. */
const CLOSE_TIMEOUT_MS = 10_000;

/** Minimum time between two log lines for the same failure. */
const FAILURE_INTERVAL_MS = 60_000;

type Handler = (signer: CertificateSigner, params: unknown) => Promise<unknown>;

/** Handlers of requests with one response, by method. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ['describe', handle(METHODS.describe, signer => signer.describe())],
  [
    'signCertificate',
    handle(METHODS.signCertificate, (signer, request) =>
      signer.signCertificate(request),
    ),
  ],
  [
    'signRevocationList',
    handle(METHODS.signRevocationList, (signer, request) =>
      signer.signRevocationList(request),
    ),
  ],
  [
    'blockKey',
    handle(METHODS.blockKey, async (signer, request) => {
      await signer.blockKey(request);
      return {};
    }),
  ],
]);

function handle<P extends z.ZodType, R extends z.ZodType>(
  schemas: { readonly params: P; readonly result: R },
  call: (
    signer: CertificateSigner,
    params: z.output<P>,
  ) => Promise<z.output<R>>,
): Handler {
  return async (signer, params) =>
    schemas.result.encode(
      await call(signer, readParams(schemas.params, params)),
    );
}

/** @throws SignerRefusalError */
function readParams<P extends z.ZodType>(
  schema: P,
  params: unknown,
): z.output<P> {
  const result = schema.safeParse(params);
  if (!result.success) {
    throw new SignerRefusalError(
      'The signing process cannot read the request.',
    );
  }
  return result.data;
}

class Connection {
  readonly #socket: Socket;
  readonly #signer: CertificateSigner;
  readonly #log: (line: string) => void;
  readonly #logFailure: (message: string) => void;
  readonly #counts = { served: 0, refused: 0, unavailable: 0 };
  #inFlight = 0;
  #inFlightBytes = 0;
  #finishing = false;
  /** Called when a request ends. */
  #onEnd: () => void = () => {};

  constructor(options: {
    readonly socket: Socket;
    readonly signer: CertificateSigner;
    readonly log: (line: string) => void;
    readonly logFailure: (message: string) => void;
  }) {
    this.#socket = options.socket;
    this.#signer = options.signer;
    this.#log = options.log;
    this.#logFailure = options.logFailure;
    // Errors end the iteration, or make the write fail.
    this.#socket.on('error', () => {});
  }

  /** Serves requests until the client closes the connection. Does not reject. */
  async serve(): Promise<void> {
    try {
      await this.#read();
      await this.#until(() => this.#inFlight === 0);
      this.#socket.end();
    } catch (error) {
      if (error instanceof MessageError) {
        this.#log(`closing: ${error.message}`);
      }
      this.#socket.destroy();
    }
    if (!this.#socket.closed) {
      await new Promise<void>(resolve => {
        this.#socket.once('close', () => resolve());
      });
    }
    await this.#until(() => this.#inFlight === 0);
    const { served, refused, unavailable } = this.#counts;
    this.#log(
      `closed; requests: ${served} served, ${refused} refused, ${unavailable} unavailable`,
    );
  }

  /** Stops reading requests, and closes the connection after those in flight. */
  async finish(): Promise<void> {
    this.#finishing = true;
    await this.#until(() => this.#inFlight === 0);
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Reads the socket only while the limits permit another request. */
  async #read(): Promise<void> {
    const lines = new LineReader();
    // By default, the iterator destroys the socket at its end, before the responses are sent.
    for await (const chunk of this.#socket.iterator({
      destroyOnReturn: false,
    })) {
      for (const line of lines.read(chunk)) {
        const { length } = line;
        const request = readLine(line, requestMessage);
        await this.#until(
          () =>
            this.#inFlight === 0 ||
            (this.#inFlight < MAX_IN_FLIGHT &&
              this.#inFlightBytes + length <= MAX_IN_FLIGHT_BYTES),
        );
        if (!this.#finishing) {
          void this.#respond(request, length);
        }
      }
    }
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>(resolve => {
        const others = this.#onEnd;
        this.#onEnd = () => {
          others();
          resolve();
        };
      });
    }
  }

  /** A request is in flight until the client has read its response. */
  async #respond(request: RequestMessage, length: number): Promise<void> {
    const { id } = request;
    this.#inFlight += 1;
    this.#inFlightBytes += length;
    try {
      const result = await this.#execute(request);
      this.#counts.served += 1;
      await this.#send({ id, result });
    } catch (error) {
      assertError(error);
      await this.#send({ id, error: this.#present(error) });
    } finally {
      this.#inFlight -= 1;
      this.#inFlightBytes -= length;
      const onEnd = this.#onEnd;
      this.#onEnd = () => {};
      onEnd();
    }
  }

  /** Returns the encoded result. */
  async #execute({ id, method, params }: RequestMessage): Promise<unknown> {
    const signer = this.#signer;
    if (method === 'loggedCertificates') {
      readParams(METHODS.loggedCertificates.params, params);
      for await (const entry of signer.loggedCertificates()) {
        await this.#send({ id, item: loggedCertificate.encode(entry) });
        if (this.#socket.destroyed) {
          break;
        }
      }
      return {};
    }
    const handler = HANDLERS.get(method);
    if (!handler) {
      throw new SignerRefusalError(
        'The signing process does not support this method.',
      );
    }
    return await handler(signer, params);
  }

  #present(error: Error): ErrorMessage {
    if (error instanceof SignerRefusalError) {
      this.#counts.refused += 1;
      return { kind: 'refused', message: error.message };
    }
    this.#counts.unavailable += 1;
    this.#logFailure(error.message);
    return error instanceof SignerLimitError
      ? { kind: 'limited', message: error.message }
      : { kind: 'unavailable' };
  }

  /** Resolves when the message is sent, or the connection is closed. */
  async #send(message: ResponseMessage): Promise<void> {
    await new Promise<void>(resolve => {
      this.#socket.write(writeLine(message), () => resolve());
    });
  }
}

/** Options of {@link SignerServer.listen}. */
export interface SignerServerOptions {
  readonly signer: CertificateSigner;
  /** Absolute path of the Unix socket. */
  readonly path: string;
  /** Logs an event, on one line. */
  readonly log: (line: string) => void;
}

/**
 * Serves a signer on a Unix socket. The permissions of the socket's folder determine
 * which users may connect. The server does not trust these clients: it validates
 * messages, and limits connections, lines and requests in flight.
 */
export class SignerServer {
  readonly #options: SignerServerOptions;
  /** Open connections, each with a promise that resolves when it is closed. */
  readonly #connections = new Map<Connection, Promise<void>>();
  readonly #server: Server;
  #connectionCount = 0;
  #lastFailure = { message: '', at: -Infinity };

  /**
   * Listens on the socket, mode 0660. The socket of a process that was killed is
   * replaced.
   *
   * @throws Error when other users can access the folder, another process
   *   listens on the socket, or the path is another kind of file.
   */
  static async listen(options: SignerServerOptions): Promise<SignerServer> {
    const { path } = options;
    await requirePrivateFolder(dirname(path));
    await removeStaleSocket(path);
    const server = new SignerServer(options);
    server.#server.listen(path);
    await once(server.#server, 'listening');
    await chmod(path, 0o660);
    return server;
  }

  private constructor(options: SignerServerOptions) {
    this.#options = options;
    // A client may close its side after its last request.
    this.#server = createServer({ allowHalfOpen: true }, socket =>
      this.#accept(socket),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('drop', () => {
      options.log(
        `refused a connection: ${MAX_CONNECTIONS} connections are open`,
      );
    });
  }

  /** Finishes the requests in flight, and removes the socket. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    const connections = [...this.#connections.keys()];
    const served = Promise.all(this.#connections.values());
    const timer = setTimeout(
      () => connections.forEach(connection => connection.destroy()),
      CLOSE_TIMEOUT_MS,
    );
    await Promise.all(connections.map(connection => connection.finish()));
    await Promise.all([served, closed]);
    clearTimeout(timer);
  }

  #accept(socket: Socket): void {
    this.#connectionCount += 1;
    const name = `connection ${this.#connectionCount}`;
    const { signer } = this.#options;
    const log = (line: string) => this.#options.log(`${name}: ${line}`);
    const connection = new Connection({
      socket,
      signer,
      log,
      logFailure: message => this.#logFailure(message),
    });
    log('opened');
    this.#connections.set(
      connection,
      connection.serve().then(() => {
        this.#connections.delete(connection);
      }),
    );
  }

  /** Logs a repeated failure once a minute, so that a client cannot fill the disk. */
  #logFailure(message: string): void {
    const now = performance.now();
    const { message: previous, at } = this.#lastFailure;
    if (message !== previous || now - at >= FAILURE_INTERVAL_MS) {
      this.#lastFailure = { message, at: now };
      this.#options.log(`not available: ${message}`);
    }
  }
}

/**
 * Checks the folder of the socket, because the folder determines which users
 * may connect: the mode of a new socket depends on the umask until it is set.
 *
 * @throws Error
 */
async function requirePrivateFolder(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  if ((mode & 0o027) !== 0) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    throw new Error(
      `The folder ${folder} of the socket is accessible to other users (mode ${octal}): run chmod 750`,
    );
  }
  if (uid !== process.getuid?.() && uid !== 0) {
    throw new Error(
      `The folder ${folder} of the socket belongs to another user (uid ${uid})`,
    );
  }
}

/**
 * Removes the socket that a killed process left behind.
 *
 * @throws Error when a process listens on it, or it is not a socket.
 */
async function removeStaleSocket(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isSocket()) {
      throw new Error(`${path} exists and is not a socket`);
    }
    const socket = connect(path);
    try {
      await once(socket, 'connect');
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (isError(error) && error.code === 'ENOENT') {
      return;
    }
    if (isError(error) && error.code === 'ECONNREFUSED') {
      await rm(path);
      return;
    }
    throw error;
  }
  throw new Error(`Another process listens on ${path}`);
}
