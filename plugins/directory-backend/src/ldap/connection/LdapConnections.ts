import type { Socket } from 'node:net';
import { type LdapEndpoint, readEndpoint } from './ldapClient';
import type { LdapConfig } from './LdapConfig';
import { LdapConnection } from './LdapConnection';
import { isRejectedBind, unreachable } from './ldapErrors';
import type { LdapMetrics } from './LdapMetrics';

/**
 * Milliseconds for which a rejected password is not retried, because the
 * directory may lock the account. A different password is tried immediately.
 */
const REJECTED_BIND_CACHE_MS = 10_000;

/** Options of {@link LdapConnections}. */
export interface LdapConnectionsOptions {
  readonly url: string;
  readonly config: LdapConfig;
  readonly metrics: LdapMetrics;
  /** Called for each connection that could not be opened. */
  readonly onFailure: (error: unknown) => void;
}

/** Connections to one directory server. */
export class LdapConnections {
  readonly #options: LdapConnectionsOptions;
  readonly #connections = new Set<LdapConnection>();
  /** Callbacks of searches that wait for a connection. */
  #waiters: (() => void)[] = [];
  #opening: Promise<LdapConnection> | undefined;
  /** Connection for probes only. */
  #spare: LdapConnection | undefined;
  /** Functions that reject the connections being opened. */
  readonly #aborts = new Set<(error: Error) => void>();
  /** Open sockets with the number of bytes that each has received. */
  readonly #sockets = new Map<Socket, number>();
  #handshakes = 0;
  #dropped: Error | undefined;
  #rejected: { password: string; at: number; error: unknown } | undefined;
  #closed = false;

  constructor(options: LdapConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Calls back with the connection that has the fewest pending searches, as
   * soon as one has capacity. Opens another connection if none has.
   *
   * The callback runs synchronously after the choice: otherwise, concurrent
   * searches would choose the same connection.
   *
   * @throws DirectoryUnavailableError when no connection can be opened. The
   *   error of {@link drop} when it is called in the meantime.
   */
  async use<T>(use: (connection: LdapConnection) => Promise<T>): Promise<T> {
    const dropped = this.#dropped;
    let connection = this.#available();
    while (!connection) {
      await this.#waitForCapacity();
      if (this.#dropped && this.#dropped !== dropped) {
        throw this.#dropped;
      }
      connection = this.#available();
    }
    try {
      return await use(connection);
    } finally {
      this.#wakeAll();
    }
  }

  /** Returns a connection for a probe, even if it has no capacity. */
  async any(): Promise<LdapConnection> {
    return this.#leastBusy() ?? this.#open();
  }

  /** Returns a connection that is used only for probes. */
  async spare(): Promise<LdapConnection> {
    if (!this.#spare?.usable) {
      this.#spare = await this.#connect();
    }
    return this.#spare;
  }

  /** Closes the connection opened by {@link spare}. */
  closeSpare(): void {
    this.#spare?.close();
    this.#spare = undefined;
  }

  /** Opens and binds another connection, then closes it. */
  async verifyBind(): Promise<void> {
    const connection = await this.#connect();
    connection.close();
  }

  /**
   * Whether a response of the server to a request or connection attempt is due.
   */
  get isWaiting(): boolean {
    return (
      this.#opening !== undefined ||
      [...this.#connections].some(({ awaited }) => awaited > 0)
    );
  }

  /** Returns whether the server has sent anything since the last call. */
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

  /**
   * Returns the connections that have been idle for at least `ms` milliseconds.
   */
  idle(ms: number): readonly LdapConnection[] {
    return [...this.#connections].filter(
      connection => connection.usable && connection.idleMs >= ms,
    );
  }

  /**
   * Closes all connections, including those being opened; pending searches
   * reject.
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
    this.#wakeAll();
  }

  /** Closes all connections permanently; pending searches reject. */
  close(): void {
    this.#closed = true;
    this.drop(this.#closedError());
  }

  /** Rejects new searches and closes when no search is pending. */
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

  #available(): LdapConnection | undefined {
    const best = this.#leastBusy();
    return best && best.pending < this.#options.config.pipelining
      ? best
      : undefined;
  }

  /** Resolves when a connection may have capacity. */
  async #waitForCapacity(): Promise<void> {
    const released = new Promise<void>(resolve => {
      this.#waiters.push(resolve);
    });
    if (this.#connections.size >= this.#options.config.maxConnections) {
      await released;
      return;
    }
    const opened = this.#open();
    if (this.#leastBusy()) {
      // Another connection may get capacity even if this one fails to open.
      await Promise.race([released, opened.catch(() => released)]);
    } else {
      await opened;
    }
  }

  #wakeAll(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) {
      wake();
    }
  }

  /** Opens one connection at a time, shared by all callers. */
  #open(): Promise<LdapConnection> {
    const open = async () => {
      const connection = await this.#connect();
      this.#connections.add(connection);
      connection.onClose(() => {
        this.#connections.delete(connection);
        this.#wakeAll();
      });
      return connection;
    };
    this.#opening ??= open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<LdapConnection> {
    const { url, config, metrics, onFailure } = this.#options;
    let abort: (error: Error) => void = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = reject;
    });
    this.#aborts.add(abort);
    const bound = readEndpoint(url, config).then(endpoint =>
      this.#bind(endpoint),
    );
    try {
      const connection = await Promise.race([bound, aborted]);
      if (this.#closed) {
        throw this.#closedError();
      }
      metrics.attempted('success');
      connection.onClose(metrics.opened());
      return connection;
    } catch (error) {
      bound.then(connection => connection.close()).catch(() => {});
      metrics.attempted('failure');
      onFailure(error);
      throw error;
    } finally {
      this.#aborts.delete(abort);
    }
  }

  #closedError(): Error {
    return unreachable(
      `Directory server ${this.#options.url} is no longer used`,
    );
  }

  async #bind(endpoint: LdapEndpoint): Promise<LdapConnection> {
    const password = endpoint.bindPassword;
    const rejected = this.#rejected;
    if (
      rejected?.password === password &&
      performance.now() - rejected.at < REJECTED_BIND_CACHE_MS
    ) {
      throw rejected.error;
    }
    try {
      return await LdapConnection.open(endpoint, socket => this.#track(socket));
    } catch (error) {
      if (isRejectedBind(error)) {
        this.#rejected = { password, at: performance.now(), error };
      }
      throw error;
    }
  }

  #track(socket: Socket): void {
    this.#sockets.set(socket, 0);
    socket.once('close', () => this.#sockets.delete(socket));
    // A TLS handshake counts, because its bytes are not counted. An accepted
    // TCP connection does not: the kernel accepts it even for a stopped
    // process.
    socket.once('secureConnect', () => {
      this.#handshakes++;
    });
  }
}
