import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError, toError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import { trustedDn } from './DistinguishedName';
import { isPresent } from './filters';
import type { LdapConnection, LdapSearch } from './LdapConnection';
import {
  LdapConnections,
  type LdapConnectionsOptions,
} from './LdapConnections';
import { isRejectedBind, isServerFailure } from './ldapErrors';
import { LdapMetrics } from './LdapMetrics';
import {
  ExponentialBackoff,
  type IBackoff,
  halfJitterGenerator,
} from 'cockatiel';

/**
 * A server that has answered this lately is not given up: it may be the network
 * that breaks one connection after the other.
 */
const ANSWER_COUNTS_MS = 1000;

/**
 * Leaves a server alone for a while when it fails. It is tried out in the
 * background, with growing pauses: no caller's question is the experiment, so
 * nobody waits for a server that is away, and one that is well again comes
 * back into use even while others answer.
 */
export class ServerBreaker {
  readonly #options: ServerBreakerOptions;
  #failures = 0;
  #succeededAt = -Infinity;
  #pause: IBackoff<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: ServerBreakerOptions) {
    this.#options = options;
  }

  /** Whether the server may be asked. */
  get closed(): boolean {
    return this.#pause === undefined;
  }

  /** The server has answered. */
  succeeded(): void {
    this.#failures = 0;
    this.#succeededAt = performance.now();
  }

  /** The server has failed; enough of these in a row open the breaker. */
  failed(reason: unknown): void {
    this.#failures++;
    const silentMs = performance.now() - this.#succeededAt;
    if (
      this.#failures >= this.#options.failures &&
      silentMs >= ANSWER_COUNTS_MS
    ) {
      this.open(reason);
    }
  }

  /** Takes the server out of use, until a trial succeeds. */
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

  /** Ends the trials, for good. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #pauseFor(pause: IBackoff<unknown>): void {
    this.#pause = pause;
    this.#timer = setTimeout(() => this.#try(pause), pause.duration).unref();
  }

  async #try(pause: IBackoff<unknown>): Promise<void> {
    let isWell = true;
    try {
      await this.#options.trial();
    } catch {
      isWell = false;
    }
    if (this.#ended) {
      return;
    }
    if (isWell) {
      this.#pause = undefined;
      this.#failures = 0;
      this.#options.onClose();
    } else {
      this.#pauseFor(pause.next(undefined));
    }
  }
}

/** Milliseconds between two checks of a server that has not responded. */
const CHECK_MS = 100;

/**
 * Consecutive checks at which the server has sent nothing, until it is probed.
 * Checks are counted instead of milliseconds: when this process itself was
 * stalled, responses are read before the next check.
 */
const CHECKS_UNTIL_PROBE = 3;

/** Checks until the server counts as unresponsive: 0.9 s at most. */
const CHECKS_UNTIL_UNRESPONSIVE = 8;

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
  /** Called when `available` or `refused` may have changed. */
  readonly onChange: () => void;
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
  #availableSince = performance.now();
  #refused = false;
  /** Runs while the server has requests to answer. */
  #watch: NodeJS.Timeout | undefined;
  #silentChecks = 0;
  #isProbing = false;
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
        options.onChange();
      },
      onClose: () => {
        this.#availableSince = performance.now();
        this.#refused = false;
        this.#metrics.breaker('closed');
        logger.info(`Directory server ${url} is back in use`);
        options.onChange();
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

  /** Milliseconds since it came into use. */
  get availableMs(): number {
    return performance.now() - this.#availableSince;
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
    if (!this.#closed) {
      this.#watch ??= setInterval(
        () => this.#checkResponses(),
        CHECK_MS,
      ).unref();
    }
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

  /** Opens and binds another connection, and closes it. */
  verifyBind(): Promise<void> {
    return this.#connections.verifyBind();
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
    clearInterval(this.#watch);
    this.#breaker.end();
    if (!this.#breaker.closed) {
      this.#metrics.breaker('closed');
    }
  }

  /** Records that a connection could not be opened. */
  #failed(error: unknown): void {
    if (isRejectedBind(error)) {
      this.#refused = true;
      this.#breaker.open(error);
      this.#options.onChange();
      // The account may not use them any more, and a trial must bind again.
      this.#connections.drop(toError(error));
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
   * Finds out that the server has stopped responding, once for all that wait
   * for it: a silent server is probed on another connection, and when it stays
   * silent its connections are closed, so that pending searches are sent to
   * another server. A server that needs long for a search responds to the probe.
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
      } else if (this.#silentChecks >= CHECKS_UNTIL_UNRESPONSIVE) {
        // Responses may have arrived that have not been read yet.
        setImmediate(() => this.#giveUp());
      }
    }
  }

  #giveUp(): void {
    const isSilent = !this.#connections.takeReceived();
    this.#silentChecks = 0;
    if (isSilent && !this.#closed) {
      const error = new DirectoryUnavailableError(
        `Directory server ${this.url} does not respond`,
        { reason: 'unreachable' },
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
      await this.#ask(await this.#connections.spare());
      this.#breaker.succeeded();
    } catch {
      // A server that cannot be connected to has been counted as a failure.
    } finally {
      this.#isProbing = false;
      if (!this.#watch) {
        this.#connections.closeSpare();
      }
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

/** When a server is left alone, and how it is found well again. */
export interface ServerBreakerOptions {
  /** Failures in a row that take the server out of use. */
  readonly failures: number;
  /** Milliseconds until it is tried again, at first. */
  readonly initialMs: number;
  /** Milliseconds until it is tried again, at most. */
  readonly maxMs: number;
  /** Resolves when the server is well. */
  readonly trial: () => Promise<unknown>;
  readonly onOpen: (reason: unknown) => void;
  readonly onClose: () => void;
}
