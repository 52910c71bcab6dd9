import type { Socket } from 'node:net';
import { DirectoryUnavailableError } from '../../directory/errors';
import type { LdapEndpoint } from './ldapClient';
import { LdapConnection } from './LdapConnection';
import { isRejectedBind } from './ldapErrors';
import type { LdapMetrics } from './LdapMetrics';

/**
 * A password that was refused is not tried again for this long: a directory
 * that counts wrong ones would lock the account. Another password is tried at
 * once.
 */
const REFUSAL_HOLDS_MS = 10_000;

/** How many connections there are to a server, and how they are used. */
export interface LdapConnectionsOptions {
  readonly url: string;
  /** Read for each new connection, so that a changed password takes effect. */
  readonly endpoint: () => Promise<LdapEndpoint>;
  /** Connections kept at most. */
  readonly maxConnections: number;
  /** Searches under way on a connection at a time. */
  readonly pipelining: number;
}

/** The connections to one directory server. */
export class LdapConnections {
  readonly #options: LdapConnectionsOptions;
  readonly #metrics: LdapMetrics;
  readonly #onFailure: (error: unknown) => void;
  readonly #connections = new Set<LdapConnection>();
  /** Those who wait for room on a connection. */
  #waiting: (() => void)[] = [];
  #opening: Promise<LdapConnection> | undefined;
  /** A connection that is not for searches. */
  #spare: LdapConnection | undefined;
  /** Reject the connections that are being opened. */
  readonly #aborts = new Set<(error: Error) => void>();
  /** The open sockets, and how many bytes each had received. */
  readonly #sockets = new Map<Socket, number>();
  #handshakes = 0;
  #dropped: Error | undefined;
  #refused: { password: string; at: number; error: unknown } | undefined;
  #closed = false;

  constructor(
    options: LdapConnectionsOptions & {
      readonly metrics: LdapMetrics;
      /** Told about every connection that could not be opened. */
      readonly onFailure: (error: unknown) => void;
    },
  ) {
    this.#options = options;
    this.#metrics = options.metrics;
    this.#onFailure = options.onFailure;
  }

  /**
   * Uses the connection with the fewest pending searches, once there is one
   * with room, and opens another one when all have their fill.
   *
   * Nothing may come between choosing a connection and sending on it, or many
   * choose the same one: so this calls `use` in the same turn.
   *
   * @throws DirectoryUnavailableError when none can be opened, and what
   *   {@link drop} was called with while this waits for one.
   */
  async use<T>(use: (connection: LdapConnection) => Promise<T>): Promise<T> {
    const dropped = this.#dropped;
    let connection = this.#withRoom();
    while (!connection) {
      await this.#room();
      if (this.#dropped && this.#dropped !== dropped) {
        throw this.#dropped;
      }
      connection = this.#withRoom();
    }
    try {
      return await use(connection);
    } finally {
      this.#wake();
    }
  }

  /** A connection to try the server out with, however busy it is. */
  async any(): Promise<LdapConnection> {
    return this.#leastBusy() ?? this.#open();
  }

  /** A connection to try the server out with, apart from those for searches. */
  async spare(): Promise<LdapConnection> {
    if (!this.#spare?.usable) {
      this.#spare = await this.#connect();
    }
    return this.#spare;
  }

  /** Opens and binds another connection, and closes it. */
  async verifyBind(): Promise<void> {
    const connection = await this.#connect();
    connection.close();
  }

  /** Closes the connection that {@link spare} has opened. */
  closeSpare(): void {
    this.#spare?.close();
    this.#spare = undefined;
  }

  /** Whether the server has not answered a request or an attempt to connect. */
  get isWaiting(): boolean {
    if (this.#opening) {
      return true;
    }
    for (const connection of this.#connections) {
      if (connection.awaited > 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether the server has sent anything since the last call. */
  takeReceived(): boolean {
    let received = this.#handshakes > 0;
    this.#handshakes = 0;
    for (const [socket, before] of this.#sockets) {
      if (socket.bytesRead > before) {
        this.#sockets.set(socket, socket.bytesRead);
        received = true;
      }
    }
    return received;
  }

  /** The connections on which nothing has happened for so long. */
  idle(ms: number): readonly LdapConnection[] {
    return [...this.#connections].filter(
      connection => connection.usable && connection.idleMs >= ms,
    );
  }

  /**
   * Closes the connections there are, also those that are being opened; pending
   * searches reject.
   */
  drop(error: Error): void {
    this.#dropped = error;
    for (const abort of this.#aborts) {
      abort(error);
    }
    for (const connection of this.#connections) {
      connection.close();
    }
    this.closeSpare();
    for (const socket of this.#sockets.keys()) {
      socket.destroy();
    }
    this.#wake();
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#closed = true;
    this.drop(this.#notUsed());
  }

  /** Takes no new search, and closes when the pending ones have ended. */
  retire(): void {
    this.#closed = true;
    this.closeSpare();
    for (const connection of this.#connections) {
      connection.retire();
    }
  }

  #leastBusy(): LdapConnection | undefined {
    let best: LdapConnection | undefined;
    for (const connection of this.#connections) {
      if (connection.usable && !(best && best.pending <= connection.pending)) {
        best = connection;
      }
    }
    return best;
  }

  #withRoom(): LdapConnection | undefined {
    const best = this.#leastBusy();
    return best && best.pending < this.#options.pipelining ? best : undefined;
  }

  /** Resolves when a connection may have room. */
  async #room(): Promise<void> {
    const released = new Promise<void>(resolve => {
      this.#waiting.push(resolve);
    });
    if (this.#connections.size >= this.#options.maxConnections) {
      await released;
      return;
    }
    const opened = this.#open();
    if (this.#leastBusy()) {
      // One that fails to open is no harm as long as others come free.
      opened.catch(() => {});
      await Promise.race([released, opened.catch(() => released)]);
    } else {
      await opened;
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) {
      wake();
    }
  }

  /** One connection is opened at a time, whoever waits for it. */
  #open(): Promise<LdapConnection> {
    this.#opening ??= this.#openOne().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openOne(): Promise<LdapConnection> {
    const connection = await this.#connect();
    this.#connections.add(connection);
    connection.onClose(() => {
      this.#connections.delete(connection);
      this.#wake();
    });
    return connection;
  }

  async #connect(): Promise<LdapConnection> {
    let abort: (error: Error) => void = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = reject;
    });
    this.#aborts.add(abort);
    const bound = this.#options
      .endpoint()
      .then(endpoint => this.#bind(endpoint));
    try {
      const connection = await Promise.race([bound, aborted]);
      if (this.#closed) {
        throw this.#notUsed();
      }
      this.#metrics.attempted('success');
      connection.onClose(this.#metrics.opened());
      return connection;
    } catch (error) {
      bound.then(connection => connection.close()).catch(() => {});
      this.#metrics.attempted('failure');
      this.#onFailure(error);
      throw error;
    } finally {
      this.#aborts.delete(abort);
    }
  }

  #notUsed(): DirectoryUnavailableError {
    return new DirectoryUnavailableError(
      `Directory server ${this.#options.url} is not used any more`,
      { reason: 'unreachable' },
    );
  }

  async #bind(endpoint: LdapEndpoint): Promise<LdapConnection> {
    const password = endpoint.bindPassword;
    const refused = this.#refused;
    if (
      refused?.password === password &&
      performance.now() - refused.at < REFUSAL_HOLDS_MS
    ) {
      throw refused.error;
    }
    try {
      return await LdapConnection.open(endpoint, socket => this.#track(socket));
    } catch (error) {
      if (isRejectedBind(error)) {
        this.#refused = { password, at: performance.now(), error };
      }
      throw error;
    }
  }

  #track(socket: Socket): void {
    this.#sockets.set(socket, 0);
    socket.once('close', () => this.#sockets.delete(socket));
    // The bytes of a TLS handshake are not counted. That TCP is connected says
    // nothing: the kernel does that for a process that is stopped.
    socket.once('secureConnect', () => {
      this.#handshakes++;
    });
  }
}
