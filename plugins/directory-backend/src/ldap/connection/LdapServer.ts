import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError, toError } from '@backstage/errors';
import {
  ExponentialBackoff,
  type IBackoff,
  halfJitterGenerator,
} from 'cockatiel';
import type { Entry } from 'ldapts';
import { DirectoryTimeoutError } from '../../directory/errors';
import { trustedDn } from './DistinguishedName';
import { isPresent } from './filters';
import type { LdapConfig } from './LdapConfig';
import type { LdapConnection, LdapSearch } from './LdapConnection';
import { LdapConnections } from './LdapConnections';
import { isRejectedBind, isServerFailure, unreachable } from './ldapErrors';
import { LdapMetrics } from './LdapMetrics';

/**
 * Milliseconds after a response during which the server is not excluded: the
 * network may be what closes one connection after another.
 */
const RECENT_SUCCESS_MS = 1000;

/** Milliseconds between checks of a server that has not responded. */
const CHECK_MS = 100;

/**
 * Consecutive checks without received bytes after which the server is probed.
 * Checks are counted instead of milliseconds: after this process itself was
 * stalled, responses are read before the next check.
 */
const CHECKS_UNTIL_PROBE = 3;

/** Search of the root DSE, which is open to every account (RFC 4512 §5.1). */
const PROBE: LdapSearch = {
  base: trustedDn(''),
  scope: 'base',
  filter: isPresent('objectClass'),
  attributes: ['1.1'],
};

interface ServerBreakerOptions extends Readonly<LdapConfig['breaker']> {
  /** Resolves when the server is healthy. */
  readonly probe: () => Promise<unknown>;
  readonly onOpen: (reason: unknown) => void;
  readonly onClose: () => void;
}

/**
 * Excludes a server after failures, and probes it in the background with
 * growing pauses until it is healthy. Searches are not used as probes, so that
 * no caller waits for an unreachable server.
 */
class ServerBreaker {
  readonly #options: ServerBreakerOptions;
  #failures = 0;
  #succeededAt = -Infinity;
  #pause: IBackoff<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: ServerBreakerOptions) {
    this.#options = options;
  }

  /** Whether the server may be searched. */
  get closed(): boolean {
    return this.#pause === undefined;
  }

  /** Records a response of the server. */
  succeeded(): void {
    this.#failures = 0;
    this.#succeededAt = performance.now();
  }

  /** Records a failure; enough consecutive failures open the breaker. */
  failed(reason: unknown): void {
    this.#failures++;
    const silentMs = performance.now() - this.#succeededAt;
    if (
      this.#failures >= this.#options.failures &&
      silentMs >= RECENT_SUCCESS_MS
    ) {
      this.open(reason);
    }
  }

  /** Excludes the server until a probe succeeds. */
  open(reason: unknown): void {
    if (this.closed && !this.#ended) {
      const { initialMs, maxMs, onOpen } = this.#options;
      const backoff = new ExponentialBackoff({
        generator: halfJitterGenerator,
        initialDelay: initialMs,
        maxDelay: maxMs,
      });
      this.#pauseFor(backoff.next());
      onOpen(reason);
    }
  }

  /** Stops probing. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #pauseFor(pause: IBackoff<unknown>): void {
    this.#pause = pause;
    this.#timer = setTimeout(() => this.#try(pause), pause.duration).unref();
  }

  async #try(pause: IBackoff<unknown>): Promise<void> {
    const isHealthy = await this.#options.probe().then(
      () => true,
      () => false,
    );
    if (this.#ended) {
      return;
    }
    if (isHealthy) {
      this.#pause = undefined;
      this.#failures = 0;
      this.#options.onClose();
    } else {
      this.#pauseFor(pause.next(undefined));
    }
  }
}

/** Options of {@link LdapServer}. */
export interface LdapServerOptions {
  readonly url: string;
  readonly config: LdapConfig;
  readonly logger: LoggerService;
  /** Called when `available` or `refused` may have changed. */
  readonly onChange: () => void;
}

/** One directory server: its connections and its circuit breaker. */
export class LdapServer {
  readonly #options: LdapServerOptions;
  readonly #breaker: ServerBreaker;
  readonly #connections: LdapConnections;
  /** Lost connections that were already counted as a failure. */
  readonly #lost = new WeakSet<LdapConnection>();
  readonly #metrics: LdapMetrics;
  readonly #idleProbes: NodeJS.Timeout;
  /**
   * Consecutive silent checks after which the server is considered
   * unresponsive.
   */
  readonly #maxSilentChecks: number;
  #availableSince = performance.now();
  #refused = false;
  /** Timer that runs while the server has requests to respond to. */
  #watch: NodeJS.Timeout | undefined;
  #silentChecks = 0;
  #isProbing = false;
  #closed = false;

  constructor(options: LdapServerOptions) {
    const { url, config, logger } = options;
    this.#options = options;
    this.#metrics = new LdapMetrics(url);
    this.#breaker = new ServerBreaker({
      ...config.breaker,
      probe: () => this.#probe(),
      onOpen: reason => {
        this.#metrics.breaker('open');
        logger.warn(
          `Directory server ${url} excluded after failures: ${stringifyError(
            reason,
          )}`,
        );
        options.onChange();
      },
      onClose: () => {
        this.#availableSince = performance.now();
        this.#refused = false;
        this.#metrics.breaker('closed');
        logger.info(`Directory server ${url} back in service`);
        options.onChange();
      },
    });
    this.#connections = new LdapConnections({
      url,
      config,
      metrics: this.#metrics,
      onFailure: error => this.#connectionFailed(error),
    });
    this.#maxSilentChecks = Math.floor(config.breaker.silenceMs / CHECK_MS) - 1;
    this.#idleProbes = setInterval(
      () => this.#probeIdle(),
      config.idleProbeMs / 2,
    ).unref();
  }

  get url(): string {
    return this.#options.url;
  }

  /** Whether the server may be searched. */
  get available(): boolean {
    return !this.#closed && this.#breaker.closed;
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
   * Sends one search as soon as a connection has capacity. An error thrown by
   * `beforeAttempt` prevents the search and does not count as a server failure.
   */
  async search(
    search: LdapSearch,
    options: {
      readonly timeoutMs: number;
      readonly beforeAttempt: () => void;
    },
  ): Promise<Entry[]> {
    if (!this.#closed) {
      this.#watch ??= setInterval(
        () => this.#checkResponses(),
        CHECK_MS,
      ).unref();
    }
    return this.#connections.use(async connection => {
      options.beforeAttempt();
      try {
        const entries = await this.#metrics.operation(() =>
          connection.search(search, options),
        );
        this.#breaker.succeeded();
        return entries;
      } catch (error) {
        this.#recordFailure(connection, error);
        throw error;
      }
    });
  }

  /** Opens and binds another connection, then closes it. */
  verifyBind(): Promise<void> {
    return this.#connections.verifyBind();
  }

  /** Closes all connections; pending searches reject. */
  close(): void {
    this.#end();
    this.#connections.close();
  }

  /** Rejects new searches and closes when no search is pending. */
  retire(): void {
    this.#end();
    this.#connections.retire();
  }

  #end(): void {
    this.#closed = true;
    clearInterval(this.#idleProbes);
    clearInterval(this.#watch);
    this.#breaker.end();
    if (!this.#breaker.closed) {
      this.#metrics.breaker('closed');
    }
  }

  #connectionFailed(error: unknown): void {
    if (isRejectedBind(error)) {
      this.#refused = true;
      this.#breaker.open(error);
      this.#options.onChange();
      // The account may no longer use them, and a probe must bind again.
      this.#connections.drop(toError(error));
    } else {
      this.#breaker.failed(error);
    }
  }

  /**
   * Counts a lost connection once, although all its searches fail, and each
   * missed deadline.
   */
  #recordFailure(connection: LdapConnection, error: unknown): void {
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
   * Detects a server that has stopped responding, once for all pending
   * searches. A silent server is probed on another connection. If it stays
   * silent, its connections are closed, so that pending searches are sent to
   * another server. A server that needs a long time for a search still responds
   * to the probe.
   */
  #checkResponses(): void {
    if (!this.#connections.isWaiting) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      this.#silentChecks = 0;
      this.#connections.closeSpare();
    } else if (this.#connections.takeReceived()) {
      this.#silentChecks = 0;
    } else {
      this.#silentChecks++;
      if (this.#silentChecks === CHECKS_UNTIL_PROBE && this.#breaker.closed) {
        this.#probeResponses();
      } else if (this.#silentChecks >= this.#maxSilentChecks) {
        // Responses may have arrived that have not been read yet.
        setImmediate(() => this.#excludeIfSilent());
      }
    }
  }

  #excludeIfSilent(): void {
    const isSilent = !this.#connections.takeReceived();
    this.#silentChecks = 0;
    if (isSilent && !this.#closed) {
      const error = unreachable(
        `Directory server ${this.url} does not respond`,
      );
      this.#breaker.open(error);
      this.#connections.drop(error);
    }
  }

  async #probeResponses(): Promise<void> {
    if (this.#isProbing) {
      return;
    }
    this.#isProbing = true;
    try {
      await this.#ping(await this.#connections.spare());
      this.#breaker.succeeded();
    } catch {
      // A failure to connect has already been counted.
    } finally {
      this.#isProbing = false;
      if (!this.#watch) {
        this.#connections.closeSpare();
      }
    }
  }

  /** Detects silently lost connections before a caller has to wait for one. */
  #probeIdle(): void {
    const { idleProbeMs } = this.#options.config;
    for (const connection of this.#connections.idle(idleProbeMs)) {
      this.#ping(connection).catch(() => {
        connection.close();
        this.#probe().catch(reason => this.#breaker.open(reason));
      });
    }
  }

  async #probe(): Promise<void> {
    await this.#ping(await this.#connections.any());
  }

  async #ping(connection: LdapConnection): Promise<void> {
    const timeoutMs = this.#options.config.connectTimeoutMs;
    await connection.search(PROBE, { timeoutMs });
  }
}
