import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  BrokenCircuitError,
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleWhen,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import type { Entry } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../directory/errors';
import {
  LdapConnection,
  type LdapEndpoint,
  type LdapSearch,
} from './LdapConnection';
import { trustedDn } from './DistinguishedName';
import { isPresent } from './filters';
import { isConnectionFailure } from './ldapErrors';
import { LdapMetrics } from './LdapMetrics';

/** Every server answers this, to anybody (RFC 4512 §5.1). */
const ROOT_DSE: LdapSearch = {
  base: trustedDn(''),
  scope: 'base',
  filter: isPresent('objectClass'),
  attributes: ['1.1'],
};

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
  /** Failures in a row after which the server is left alone for a while. */
  readonly failuresToOpen: number;
  /** Milliseconds until it is tried again: the first time, and at most. */
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  readonly logger: LoggerService;
}

/**
 * One directory server: its connections, and a breaker that leaves it alone
 * for a while when it fails.
 */
export class LdapServer {
  readonly #options: LdapServerOptions;
  readonly #breaker: CircuitBreakerPolicy;
  readonly #connections = new Set<LdapConnection>();
  readonly #metrics: LdapMetrics;
  readonly #probe: NodeJS.Timeout;
  #opening: Promise<LdapConnection> | undefined;
  #closed = false;

  constructor(options: LdapServerOptions) {
    this.#options = options;
    this.#breaker = circuitBreaker(handleWhen(isServerFailure), {
      breaker: new ConsecutiveBreaker(options.failuresToOpen),
      halfOpenAfter: new ExponentialBackoff({
        initialDelay: options.backoff.initialMs,
        maxDelay: options.backoff.maxMs,
      }),
    });
    this.#metrics = new LdapMetrics(options.url);
    this.#breaker.onBreak(reason => {
      this.#metrics.breaker('open');
      options.logger.warn(
        `Directory server ${options.url} is out of use: ${describe(reason)}`,
      );
    });
    this.#breaker.onReset(() => {
      this.#metrics.breaker('closed');
      options.logger.info(`Directory server ${options.url} is back in use`);
    });
    this.#probe = setInterval(
      () => this.#probeIdle(),
      options.idleProbeMs,
    ).unref();
  }

  get url(): string {
    return this.#options.url;
  }

  /** Whether the breaker lets a search through. */
  get available(): boolean {
    return this.#breaker.state !== CircuitState.Open;
  }

  /** Sends one search on the connection with the fewest pending ones. */
  async search(
    search: LdapSearch,
    options: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    try {
      return await this.#breaker.execute(async () => {
        const connection = await this.#connection();
        return this.#metrics.operation(() =>
          connection.search(search, options),
        );
      });
    } catch (error) {
      if (error instanceof BrokenCircuitError) {
        throw new DirectoryUnavailableError(
          `Directory server ${this.url} is out of use`,
        );
      }
      throw error;
    }
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#probe);
    for (const connection of this.#connections) {
      connection.close();
    }
    this.#connections.clear();
  }

  /** Takes no new search, and closes when the pending ones have ended. */
  retire(): void {
    this.#closed = true;
    clearInterval(this.#probe);
    for (const connection of this.#connections) {
      connection.retire();
    }
    this.#connections.clear();
  }

  /**
   * Finds connections whose other end has gone without a word, before a caller
   * has to wait for one.
   */
  #probeIdle(): void {
    for (const connection of this.#connections) {
      if (connection.usable && connection.idleMs >= this.#options.idleProbeMs) {
        connection
          .search(ROOT_DSE, { timeoutMs: this.#options.probeTimeoutMs })
          .catch(() => connection.close());
      }
    }
  }

  async #connection(): Promise<LdapConnection> {
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

  #leastBusy(): LdapConnection | undefined {
    let best: LdapConnection | undefined;
    for (const connection of this.#connections) {
      if (!connection.usable) {
        this.#connections.delete(connection);
      } else if (!best || connection.pending < best.pending) {
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
      throw new DirectoryUnavailableError('The directory gateway is stopping');
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
      const connection = await LdapConnection.open(
        await this.#options.endpoint(),
      );
      this.#metrics.attempted('success');
      return connection;
    } catch (error) {
      this.#metrics.attempted('failure');
      throw error;
    }
  }
}

function isServerFailure(error: unknown): boolean {
  return isConnectionFailure(error) || error instanceof DirectoryTimeoutError;
}

/** What happened, down to what the system or the server said. */
function describe(reason: unknown): string {
  const texts: string[] = [];
  let error: unknown =
    typeof reason === 'object' && reason !== null && 'error' in reason
      ? reason.error
      : reason;
  while (error instanceof Error) {
    texts.push(error.message);
    error = error.cause;
  }
  return texts.join(': ');
}
