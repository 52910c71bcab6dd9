import type { LoggerService } from '@backstage/backend-plugin-api';
import { once } from 'node:events';
import {
  DirectoryUnavailableError,
  type UnavailableReason,
} from '../../directory/errors';

/** Reasons to suspend reads, with the reason of the resulting error. */
const ERROR_REASONS = {
  /** The directory refused the service account. */
  credentials: 'refused',
  /** The service account may not read a required attribute. */
  accessCheck: 'accessCheck',
  /** A sync would delete too many entries. */
  quarantine: 'quarantine',
  /** The baseline of the mass-deletion guard cannot be read. */
  database: 'database',
} as const satisfies Record<string, UnavailableReason>;

/** Reason to suspend reads. */
export type SuspensionReason = keyof typeof ERROR_REASONS;

/** All suspension reasons. */
export const suspensionReasons = Object.keys(
  ERROR_REASONS,
) as readonly SuspensionReason[];

/** Whether the replica may be read; otherwise, the reason. */
export type ReplicaStatus =
  /** The first sync has not finished. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'serving'; readonly ageMs: number }
  /** The replica is older than `maxStaleness`. */
  | { readonly kind: 'stale'; readonly ageMs: number }
  | {
      readonly kind: 'suspended';
      readonly reason: SuspensionReason;
      /** Message for the log. */
      readonly message: string;
    };

/** Maximum number of reads that wait for the first sync. */
const MAX_WAITING = 200;

/** Maximum time that a read waits for the first sync. */
const MAX_WAIT_MS = 5000;

/** Admits reads while the replica may be read. */
export type ReplicaGate = Pick<ReplicaState, 'isServing' | 'enter'>;

/**
 * Decides by age and suspensions whether the replica may be read. A limited
 * number of reads wait for the first sync.
 */
export class ReplicaState {
  /** Age in milliseconds above which the replica is not read. */
  maxStalenessMs: number;
  readonly #logger: LoggerService;
  #confirmedAt = -Infinity;
  #hasServed = false;
  #suspension: Extract<ReplicaStatus, { kind: 'suspended' }> | undefined;
  #suspensions = 0;
  /** Aborted when the first sync has finished or reads are suspended. */
  readonly #started = new AbortController();
  /** Number of reads that are waiting. */
  #waiting = 0;

  constructor(options: {
    readonly maxStalenessMs: number;
    readonly logger: LoggerService;
  }) {
    this.maxStalenessMs = options.maxStalenessMs;
    this.#logger = options.logger;
  }

  /** Milliseconds since the replica was last known to equal the directory. */
  get ageMs(): number {
    return performance.now() - this.#confirmedAt;
  }

  /** Whether the replica may be read now. */
  get isServing(): boolean {
    return !this.#suspension && this.ageMs <= this.maxStalenessMs;
  }

  get status(): ReplicaStatus {
    const { ageMs } = this;
    if (this.#suspension) {
      return this.#suspension;
    }
    if (!this.#hasServed) {
      return { kind: 'starting' };
    }
    return { kind: this.isServing ? 'serving' : 'stale', ageMs };
  }

  /**
   * Number of calls to {@link suspend}. A sync must not confirm the replica if
   * this number changes while the sync runs.
   */
  get suspensions(): number {
    return this.#suspensions;
  }

  /** Suspends reads immediately, until the replica is confirmed again. */
  suspend(reason: SuspensionReason, message: string): void {
    this.#suspensions++;
    if (this.#suspension?.reason !== reason) {
      this.#logger.error(`Reads are suspended: ${message}`);
    }
    this.#suspension = { kind: 'suspended', reason, message };
    this.#started.abort();
  }

  /**
   * Records that the replica matches the directory as of a time from
   * `performance.now()`, and resumes reads.
   */
  confirm(requestedAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, requestedAt);
    this.#hasServed = true;
    if (this.#suspension) {
      this.#suspension = undefined;
      this.#logger.info('Reads are resumed');
    }
    this.#started.abort();
  }

  /**
   * Resolves when the replica may be read, within 5 seconds.
   *
   * @throws DirectoryUnavailableError when the replica may not be read:
   *   immediately when 200 reads are waiting or reads are suspended. The reason
   *   of the signal when it is aborted.
   */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.status.kind === 'starting' && this.#waiting < MAX_WAITING) {
      await this.#wait(signal);
    }
    if (!this.isServing) {
      throw unavailable(this.status);
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const timedOut = new AbortController();
    const timeout = setTimeout(() => timedOut.abort(), MAX_WAIT_MS);
    this.#waiting++;
    const ends = [signal, this.#started.signal, timedOut.signal];
    await once(AbortSignal.any(ends), 'abort');
    this.#waiting--;
    clearTimeout(timeout);
    signal.throwIfAborted();
  }
}

function unavailable(status: ReplicaStatus): DirectoryUnavailableError {
  switch (status.kind) {
    case 'suspended':
      return new DirectoryUnavailableError(status.message, {
        reason: ERROR_REASONS[status.reason],
      });
    case 'starting':
      return new DirectoryUnavailableError('The first sync has not finished', {
        reason: 'starting',
      });
    default:
      return new DirectoryUnavailableError('The replica is too old', {
        reason: 'stale',
      });
  }
}

/**
 * Returns the reason to suspend reads after an error; `undefined` if there is
 * none.
 */
export function suspensionFor(error: unknown): SuspensionReason | undefined {
  return error instanceof DirectoryUnavailableError
    ? suspensionReasons.find(reason => ERROR_REASONS[reason] === error.reason)
    : undefined;
}
