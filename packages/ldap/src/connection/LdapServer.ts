import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError, toError } from '@backstage/errors';
import {
  ConsecutiveBreaker,
  ExponentialBackoff,
  halfJitterGenerator,
} from 'cockatiel';
import type { Entry } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEndpoint } from './ldapClient';
import type { LdapConfig } from './LdapConfig';
import { LdapConnection, type LdapSearch } from './LdapConnection';
import {
  isConnectionFailure,
  isConnectTimeout,
  isRejectedBind,
  unreachable,
} from './ldapErrors';
import { LdapMetrics } from './LdapMetrics';

/** Consecutive failures after which a server is excluded. */
const MAX_FAILURES = 3;

/**
 * Milliseconds after a response during which the server is not excluded: the
 * network may be what closes one connection after another.
 */
const RECENT_SUCCESS_MS = 1000;

/** Pauses between probes of an excluded server. */
const PROBE_BACKOFF = new ExponentialBackoff({
  generator: halfJitterGenerator,
  initialDelay: 100,
  maxDelay: 1000,
});

/** Milliseconds between checks of a server that has not responded. */
const CHECK_MS = 100;

/**
 * Consecutive checks without received bytes after which the server is probed.
 * Checks are counted instead of milliseconds: after this process itself was
 * stalled, responses are read before the next check.
 */
const CHECKS_UNTIL_PROBE = 3;

/** Minimum checks: with less, a busy server would be excluded repeatedly. */
const MIN_CHECKS = 5;

/**
 * Milliseconds for which a rejected password is not retried, because the
 * directory may lock the account. A different password is tried immediately.
 */
const REJECTED_BIND_CACHE_MS = 10_000;

/** Use of a connection: lookups for which a request waits, or long reads. */
type LdapPurpose = 'decisions' | 'replica';

/** Options of {@link LdapServer}. */
export interface LdapServerOptions {
  readonly url: string;
  readonly config: LdapConfig;
  readonly logger: LoggerService;
  /**
   * Milliseconds without data from the server, while a response is due, after
   * which it is excluded. Default: 60 % of `decisionTimeout`, so that another
   * server can decide in the rest of the time.
   */
  readonly silenceMs?: number;
  /** Called when `available` or `refused` may have changed. */
  readonly onChange: () => void;
}

/**
 * One directory server: a connection for each purpose, opened when it is needed,
 * and a circuit breaker. An excluded server is probed in the background until it
 * accepts a bind, so that no caller waits for it.
 */
export class LdapServer {
  readonly #options: LdapServerOptions;
  readonly #metrics: LdapMetrics;
  readonly #connections = new Map<LdapPurpose, LdapConnection>();
  /** Connections of {@link verifyBind}. */
  readonly #probes = new Set<LdapConnection>();
  readonly #failures = new ConsecutiveBreaker(MAX_FAILURES);
  readonly #maxSilentChecks: number;
  /** Aborted when the server is no longer used. */
  readonly #end = new AbortController();
  #isExcluded = false;
  #refused = false;
  #availableSince = performance.now();
  #succeededAt = -Infinity;
  #rejected: { password: string; at: number; error: Error } | undefined;
  /** Number of pending searches. */
  #pending = 0;
  /** Timer that runs while a response of the server is due. */
  #watch: NodeJS.Timeout | undefined;
  #silentChecks = 0;

  constructor(options: LdapServerOptions) {
    this.#options = options;
    this.#metrics = new LdapMetrics(options.url);
    const silenceMs =
      options.silenceMs ?? 0.6 * options.config.decisionTimeoutMs;
    this.#maxSilentChecks = Math.max(
      MIN_CHECKS,
      Math.floor(silenceMs / CHECK_MS),
    );
  }

  get url(): string {
    return this.#options.url;
  }

  /** Whether the server may be searched. */
  get available(): boolean {
    return !this.#isExcluded && !this.#end.signal.aborted;
  }

  /** Milliseconds since the server became available. */
  get availableMs(): number {
    return performance.now() - this.#availableSince;
  }

  /**
   * Whether the server has rejected the service account since it became
   * available.
   */
  get refused(): boolean {
    return this.#refused;
  }

  /**
   * Sends one search. An error thrown by `beforeSend` prevents the search and
   * does not count as a server failure.
   */
  async search(
    search: LdapSearch,
    options: {
      readonly purpose: LdapPurpose;
      readonly timeoutMs: number;
      readonly beforeSend: () => void;
    },
  ): Promise<readonly Entry[]> {
    if (!this.available) {
      throw unreachable(`Directory server ${this.url} is not available`);
    }
    this.#watch ??= setInterval(() => this.#check(), CHECK_MS).unref();
    this.#pending++;
    const connection = this.#connection(options.purpose);
    let sentAt: number | undefined;
    try {
      const entries = await connection.search(search, {
        timeoutMs: options.timeoutMs,
        beforeSend: () => {
          options.beforeSend();
          sentAt = performance.now();
        },
      });
      this.#succeeded();
      this.#metrics.operation(sentAt!);
      return entries;
    } catch (error) {
      if (sentAt !== undefined) {
        this.#metrics.operation(sentAt, error);
        this.#record(toError(error), options.purpose, connection);
      }
      throw error;
    } finally {
      this.#pending--;
    }
  }

  /** Records the outcome of a failed search for the circuit breaker. */
  #record(
    error: Error,
    purpose: LdapPurpose,
    connection: LdapConnection,
  ): void {
    if (connection.isClosed) {
      // The first one of several pending searches counts.
      if (this.#connections.get(purpose) === connection) {
        this.#connections.delete(purpose);
        if (!connection.isAbandoned) {
          this.#failed(error);
        }
      }
    } else if (isConnectionFailure(error)) {
      // The server is busy.
      this.#failed(error);
    } else {
      this.#succeeded();
    }
  }

  /** Opens and binds another connection, then closes it. */
  async verifyBind(): Promise<void> {
    const probe = this.#open();
    this.#probes.add(probe);
    try {
      await probe.opened;
    } finally {
      probe.close(this.#unused());
      this.#probes.delete(probe);
    }
  }

  /** Closes all connections; pending searches reject. */
  close(): void {
    this.#end.abort();
    this.#closeAll(this.#unused());
    if (this.#isExcluded) {
      this.#metrics.breaker('closed');
    }
  }

  #unused(): Error {
    return unreachable(`Directory server ${this.url} is no longer used`);
  }

  #connection(purpose: LdapPurpose): LdapConnection {
    const connection = this.#connections.get(purpose);
    if (connection && !connection.isClosed) {
      return connection;
    }
    const opened = this.#open();
    this.#connections.set(purpose, opened);
    return opened;
  }

  #open(): LdapConnection {
    const { url, config } = this.#options;
    let password: string | undefined;
    const connection = new LdapConnection({
      url,
      connectTimeoutMs: config.connectTimeoutMs,
      endpoint: async () => {
        const endpoint = await readEndpoint(url, config);
        const rejected = this.#rejected;
        if (
          rejected?.password === endpoint.bindPassword &&
          performance.now() - rejected.at < REJECTED_BIND_CACHE_MS
        ) {
          throw rejected.error;
        }
        password = endpoint.bindPassword;
        return endpoint;
      },
      onData: () => {
        this.#silentChecks = 0;
      },
    });
    connection.opened.then(
      () => this.#metrics.attempted('success'),
      error => {
        this.#metrics.attempted('failure');
        this.#connectFailed(error, password);
      },
    );
    return connection;
  }

  #connectFailed(error: Error, password: string | undefined): void {
    if (isRejectedBind(error)) {
      if (password !== undefined) {
        this.#rejected = { password, at: performance.now(), error };
      }
      this.#refused = true;
      // The account may no longer use the open connections.
      this.#closeAll(unreachable(error.message, error));
      this.#exclude(error);
      this.#options.onChange();
    } else if (isConnectTimeout(error) && !this.#hasRecentlySucceeded) {
      this.#exclude(error);
    } else {
      this.#failed(error);
    }
  }

  #closeAll(error: Error): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.#silentChecks = 0;
    for (const connection of [...this.#connections.values(), ...this.#probes]) {
      connection.close(error);
    }
    this.#connections.clear();
  }

  #succeeded(): void {
    this.#failures.success();
    this.#succeededAt = performance.now();
  }

  get #hasRecentlySucceeded(): boolean {
    return performance.now() - this.#succeededAt < RECENT_SUCCESS_MS;
  }

  #failed(error: Error): void {
    if (this.#failures.failure() && !this.#hasRecentlySucceeded) {
      this.#exclude(error);
    }
  }

  /** Excludes the server until a probe succeeds. */
  #exclude(reason: Error): void {
    if (this.available) {
      this.#isExcluded = true;
      this.#metrics.breaker('open');
      this.#options.logger.warn(
        `Directory server ${
          this.url
        } excluded after failures: ${stringifyError(reason)}`,
      );
      this.#options.onChange();
      this.#probeUntilHealthy().catch(() => {
        // The server is no longer used.
      });
    }
  }

  async #probeUntilHealthy(): Promise<void> {
    const { signal } = this.#end;
    let pause = PROBE_BACKOFF.next();
    let isHealthy = false;
    while (!isHealthy) {
      await sleep(pause.duration, undefined, { signal, ref: false });
      pause = pause.next(undefined);
      isHealthy = await this.verifyBind().then(
        () => true,
        () => false,
      );
      signal.throwIfAborted();
    }
    this.#isExcluded = false;
    this.#refused = false;
    this.#failures.success();
    this.#availableSince = performance.now();
    this.#metrics.breaker('closed');
    this.#options.logger.info(`Directory server ${this.url} back in service`);
    this.#options.onChange();
  }

  /**
   * Detects a server that has stopped responding, once for all pending
   * searches. A silent server is probed on another connection. If it stays
   * silent, its connections are closed, so that pending searches are sent to
   * another server. A server that needs a long time for a search still responds
   * to the probe.
   */
  #check(): void {
    if (this.#pending === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      this.#silentChecks = 0;
      return;
    }
    this.#silentChecks++;
    if (this.#silentChecks === CHECKS_UNTIL_PROBE && this.#probes.size === 0) {
      this.verifyBind().catch(() => {
        // A failure to connect has already been counted.
      });
    } else if (this.#silentChecks >= this.#maxSilentChecks) {
      // Responses may have arrived that have not been read yet.
      setImmediate(() => {
        if (this.#silentChecks >= this.#maxSilentChecks) {
          const error = unreachable(
            `Directory server ${this.url} does not respond`,
          );
          this.#closeAll(error);
          this.#exclude(error);
        }
      });
    }
  }
}
