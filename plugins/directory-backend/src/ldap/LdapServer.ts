import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../directory/errors';
import { trustedDn } from './DistinguishedName';
import { isPresent } from './filters';
import {
  LdapConnection,
  type LdapEndpoint,
  type LdapSearch,
} from './LdapConnection';
import { isRefusedBind, isServerFailure } from './ldapErrors';
import { LdapMetrics } from './LdapMetrics';
import { ServerBreaker, type ServerBreakerOptions } from './ServerBreaker';

/** Every server answers this, to anybody (RFC 4512 §5.1). */
const ROOT_DSE: LdapSearch = {
  base: trustedDn(''),
  scope: 'base',
  filter: isPresent('objectClass'),
  attributes: ['1.1'],
};

/**
 * A password that was refused is not tried again for this long: a directory
 * that counts wrong ones would lock the account. Another password is tried at
 * once.
 */
const REFUSAL_HOLDS_MS = 10_000;

/** How one directory server is used. */
export interface LdapServerOptions {
  readonly url: string;
  /** Read for each new connection, so that a changed password takes effect. */
  readonly endpoint: () => Promise<LdapEndpoint>;
  /** Connections kept at most. */
  readonly maxConnections: number;
  /** Searches under way on a connection before another one is opened. */
  readonly pipelining: number;
  /** Milliseconds of silence after which a connection is tried out. */
  readonly idleProbeMs: number;
  /** Milliseconds in which it has to answer then. */
  readonly probeTimeoutMs: number;
  /** When the server is left alone for a while. */
  readonly breaker: Pick<
    ServerBreakerOptions,
    'failures' | 'initialMs' | 'maxMs'
  >;
  readonly logger: LoggerService;
}

/**
 * One directory server: its connections, and a breaker that leaves it alone
 * for a while when it fails.
 */
export class LdapServer {
  readonly #options: LdapServerOptions;
  readonly #breaker: ServerBreaker;
  readonly #connections = new Set<LdapConnection>();
  /** Connections whose loss has been counted, whoever waited on them. */
  readonly #lost = new WeakSet<LdapConnection>();
  readonly #metrics: LdapMetrics;
  readonly #probe: NodeJS.Timeout;
  #opening: Promise<LdapConnection> | undefined;
  #refused: { password: string; at: number; error: unknown } | undefined;
  #closed = false;

  constructor(options: LdapServerOptions) {
    const { url, logger } = options;
    this.#options = options;
    this.#metrics = new LdapMetrics(url);
    this.#breaker = new ServerBreaker({
      ...options.breaker,
      trial: () => this.#tryOut(),
      onOpen: reason => {
        this.#metrics.breaker('open');
        logger.warn(
          `Directory server ${url} is out of use: ${stringifyError(reason)}`,
        );
      },
      onClose: () => {
        this.#metrics.breaker('closed');
        logger.info(`Directory server ${url} is back in use`);
      },
    });
    // Half of it, so that a silence is found soon after it is too long.
    this.#probe = setInterval(
      () => this.#probeIdle(),
      options.idleProbeMs / 2,
    ).unref();
  }

  get url(): string {
    return this.#options.url;
  }

  /** Whether the server may be asked now. */
  get available(): boolean {
    return !this.#closed && this.#breaker.closed;
  }

  /**
   * The connection with the fewest pending searches, or a new one.
   *
   * @throws DirectoryUnavailableError when none can be opened.
   */
  async connect(): Promise<LdapConnection> {
    const best = this.#leastBusy();
    if (!best) {
      return this.#open();
    }
    const { maxConnections, pipelining } = this.#options;
    if (
      best.pending >= pipelining &&
      this.#connections.size < maxConnections &&
      !this.#opening
    ) {
      // In the background: the search at hand need not wait for it.
      this.#open().catch(error =>
        this.#options.logger.debug('No further directory connection', error),
      );
    }
    return best;
  }

  /** Sends one search on a connection to this server. */
  async search(
    connection: LdapConnection,
    search: LdapSearch,
    options: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    try {
      const entries = await this.#metrics.operation(() =>
        connection.search(search, options),
      );
      this.#breaker.succeeded();
      return entries;
    } catch (error) {
      this.#judge(connection, error);
      throw error;
    }
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#end();
    for (const connection of this.#connections) {
      connection.close();
    }
  }

  /** Takes no new search, and closes when the pending ones have ended. */
  retire(): void {
    this.#end();
    for (const connection of this.#connections) {
      connection.retire();
    }
  }

  #end(): void {
    this.#closed = true;
    clearInterval(this.#probe);
    this.#breaker.end();
    if (!this.#breaker.closed) {
      this.#metrics.breaker('closed');
    }
  }

  /**
   * A lost connection fails all its searches at once, which says no more about
   * the server than one failure does. A missed deadline stands for itself.
   */
  #judge(connection: LdapConnection, error: unknown): void {
    if (!isServerFailure(error)) {
      this.#breaker.succeeded();
    } else if (error instanceof DirectoryTimeoutError) {
      this.#breaker.failed(error);
    } else if (!this.#lost.has(connection)) {
      this.#lost.add(connection);
      this.#breaker.failed(error);
    }
  }

  /**
   * Finds connections whose other end has gone without a word, before a caller
   * has to wait for one.
   */
  #probeIdle(): void {
    for (const connection of this.#connections) {
      if (connection.usable && connection.idleMs >= this.#options.idleProbeMs) {
        this.#ask(connection).catch(() => {
          connection.close();
          // Nor should a caller have to find out that nothing else is there.
          this.#tryOut().catch(reason => this.#breaker.open(reason));
        });
      }
    }
  }

  async #tryOut(): Promise<void> {
    await this.#ask(this.#leastBusy() ?? (await this.#open()));
  }

  async #ask(connection: LdapConnection): Promise<void> {
    const timeoutMs = this.#options.probeTimeoutMs;
    await connection.search(ROOT_DSE, { timeoutMs });
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

  /** One connection is opened at a time, whoever waits for it. */
  #open(): Promise<LdapConnection> {
    this.#opening ??= this.#openOne().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openOne(): Promise<LdapConnection> {
    const connection = await this.#connect();
    if (this.#closed) {
      connection.close();
      throw new DirectoryUnavailableError(
        `Directory server ${this.url} is not used any more`,
      );
    }
    this.#connections.add(connection);
    const count = this.#metrics.opened();
    connection.onClose(() => {
      this.#connections.delete(connection);
      count();
    });
    return connection;
  }

  async #connect(): Promise<LdapConnection> {
    try {
      const connection = await this.#bind(await this.#options.endpoint());
      this.#metrics.attempted('success');
      return connection;
    } catch (error) {
      this.#metrics.attempted('failure');
      this.#breaker.failed(error);
      throw error;
    }
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
      return await LdapConnection.open(endpoint);
    } catch (error) {
      if (isRefusedBind(error)) {
        this.#refused = { password, at: performance.now(), error };
      }
      throw error;
    }
  }
}
