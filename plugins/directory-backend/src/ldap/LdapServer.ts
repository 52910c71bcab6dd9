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
import { isConnectionFailure } from './ldapErrors';

/** How one directory server is used. */
export interface LdapServerOptions {
  readonly url: string;
  /** Read for each new connection, so that a changed password takes effect. */
  readonly endpoint: () => Promise<LdapEndpoint>;
  /** Connections kept at most. */
  readonly maxConnections: number;
  /** Searches under way on a connection before another one is opened. */
  readonly pipelining: number;
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
    this.#breaker.onBreak(() =>
      options.logger.warn(`Directory server ${options.url} is out of use`),
    );
    this.#breaker.onReset(() =>
      options.logger.info(`Directory server ${options.url} is back in use`),
    );
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
        return connection.search(search, options);
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
    for (const connection of this.#connections) {
      connection.close();
    }
    this.#connections.clear();
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
    const connection = await LdapConnection.open(
      await this.#options.endpoint(),
    );
    if (this.#closed) {
      connection.close();
      throw new DirectoryUnavailableError('The directory gateway is stopping');
    }
    this.#connections.add(connection);
    return connection;
  }
}

function isServerFailure(error: unknown): boolean {
  return isConnectionFailure(error) || error instanceof DirectoryTimeoutError;
}
