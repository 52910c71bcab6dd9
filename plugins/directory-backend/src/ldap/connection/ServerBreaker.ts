import {
  ExponentialBackoff,
  halfJitterGenerator,
  type IBackoff,
} from 'cockatiel';

/**
 * A server that has answered this lately is not given up: it may be the network
 * that breaks one connection after the other.
 */
const ANSWER_COUNTS_MS = 1000;

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
