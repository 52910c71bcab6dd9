import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import { DirectoryTimeoutError } from '../directory/errors';
import { trustedDn } from './DistinguishedName';
import { isPresent } from './filters';
import type { LdapConnection, LdapSearch } from './LdapConnection';
import {
  LdapConnections,
  type LdapConnectionsOptions,
} from './LdapConnections';
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

/** How one directory server is used. */
export interface LdapServerOptions extends LdapConnectionsOptions {
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
  readonly #connections: LdapConnections;
  /** Connections whose loss has been counted, whoever waited on them. */
  readonly #lost = new WeakSet<LdapConnection>();
  readonly #metrics: LdapMetrics;
  readonly #probe: NodeJS.Timeout;
  #refused = false;
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
        this.#refused = false;
        this.#metrics.breaker('closed');
        logger.info(`Directory server ${url} is back in use`);
      },
    });
    this.#connections = new LdapConnections({
      ...options,
      metrics: this.#metrics,
      onFailure: error => this.#failed(error),
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

  /** Whether it refused the service account since it was last in use. */
  get refused(): boolean {
    return this.#refused;
  }

  /**
   * Sends one search, as soon as a connection has room for it.
   *
   * `beforeSending` may throw to have it not sent; that is no failure of the
   * server.
   */
  async search(
    search: LdapSearch,
    options: {
      readonly timeoutMs: number;
      readonly beforeSending: () => void;
    },
  ): Promise<Entry[]> {
    return this.#connections.use(async connection => {
      options.beforeSending();
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
    });
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#end();
    this.#connections.close();
  }

  /** Takes no new search, and closes when the pending ones have ended. */
  retire(): void {
    this.#end();
    this.#connections.retire();
  }

  #end(): void {
    this.#closed = true;
    clearInterval(this.#probe);
    this.#breaker.end();
    if (!this.#breaker.closed) {
      this.#metrics.breaker('closed');
    }
  }

  /** Records that a connection could not be opened. */
  #failed(error: unknown): void {
    if (isRefusedBind(error)) {
      this.#refused = true;
      this.#breaker.open(error);
      // The account may not use them any more, and a trial must bind again.
      this.#connections.drop();
    } else {
      this.#breaker.failed(error);
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
    for (const connection of this.#connections.idle(
      this.#options.idleProbeMs,
    )) {
      this.#ask(connection).catch(() => {
        connection.close();
        // Nor should a caller have to find out that nothing else is there.
        this.#tryOut().catch(reason => this.#breaker.open(reason));
      });
    }
  }

  async #tryOut(): Promise<void> {
    await this.#ask(await this.#connections.any());
  }

  async #ask(connection: LdapConnection): Promise<void> {
    const timeoutMs = this.#options.probeTimeoutMs;
    await connection.search(ROOT_DSE, { timeoutMs });
  }
}
