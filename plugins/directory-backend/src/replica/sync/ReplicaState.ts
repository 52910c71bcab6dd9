import type { LoggerService } from '@backstage/backend-plugin-api';
import { once } from 'node:events';
import {
  DirectoryUnavailableError,
  type UnavailableReason,
} from '../../directory/errors';

/** Why reads are suspended, whatever the age of the replica. */
export type SuspensionReason =
  /** The directory refused the service account. */
  | 'credentials'
  /** The service account may not read a required attribute. */
  | 'accessCheck'
  /** A sync would delete too many entries. */
  | 'quarantine'
  /** The baseline of the mass-deletion guard cannot be read. */
  | 'database';

/** All reasons. */
export const suspensionReasons: readonly SuspensionReason[] = [
  'credentials',
  'accessCheck',
  'quarantine',
  'database',
];

/** Whether the replica may be read, and if not, why. */
export type ReplicaStatus =
  /** The first sync has not finished. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'serving'; readonly ageMs: number }
  /** The replica is older than `maxStaleness`. */
  | { readonly kind: 'stale'; readonly ageMs: number }
  | {
      readonly kind: 'suspended';
      readonly reason: SuspensionReason;
      /** For the log only. */
      readonly message: string;
    };

const SUSPENSION_OF: Partial<Record<UnavailableReason, SuspensionReason>> = {
  refused: 'credentials',
  accessCheck: 'accessCheck',
  quarantine: 'quarantine',
  database: 'database',
};

/** Whether the replica may be read: its age, and what suspends reads. */
export class ReplicaState {
  /** Age in milliseconds above which the replica is not read. */
  maxStalenessMs: number;
  readonly #logger: LoggerService;
  #confirmedAt = -Infinity;
  #hasServed = false;
  #suspension: Extract<ReplicaStatus, { kind: 'suspended' }> | undefined;
  #suspensions = 0;
  readonly #listeners = new Set<() => void>();

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

  /** Number of calls of {@link suspend}: a sync across one proves nothing. */
  get suspensions(): number {
    return this.#suspensions;
  }

  /** Calls a listener when the first sync has finished and at suspensions. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Suspends reads in the same turn, until the replica is proven again. */
  suspend(reason: SuspensionReason, message: string): void {
    this.#suspensions++;
    if (this.#suspension?.reason !== reason) {
      this.#logger.error(`Reads are suspended: ${message}`);
    }
    this.#suspension = { kind: 'suspended', reason, message };
    this.#notify();
  }

  /**
   * Records that the replica equals the directory as of `requestedAt`, in
   * milliseconds of `performance.now()`, and resumes reads.
   */
  confirm(requestedAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, requestedAt);
    const isChange = !this.#hasServed || this.#suspension !== undefined;
    this.#hasServed = true;
    if (this.#suspension) {
      this.#suspension = undefined;
      this.#logger.info('Reads are resumed');
    }
    if (isChange) {
      this.#notify();
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

/** Maximum number of reads that wait for the first sync. */
const MAX_WAITING = 200;

/** Maximum time that a read waits for the first sync. */
const MAX_WAIT_MS = 5000;

/** Admits reads while the replica may be read. Some wait for the first sync. */
export class ReplicaGate {
  readonly #state: Pick<ReplicaState, 'isServing' | 'status' | 'onChange'>;
  readonly #waiting = new Set<() => void>();
  #rejected = 0;

  constructor(state: Pick<ReplicaState, 'isServing' | 'status' | 'onChange'>) {
    this.#state = state;
    state.onChange(() => {
      for (const resume of [...this.#waiting]) {
        resume();
      }
    });
  }

  /** Whether {@link enter} would resolve without waiting. */
  get isOpen(): boolean {
    return this.#state.isServing;
  }

  /** Number of reads that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Number of reads that the first sync has kept waiting for too long. */
  get rejected(): number {
    return this.#rejected;
  }

  /**
   * Resolves when the replica may be read, after 5 seconds at most.
   *
   * @throws DirectoryUnavailableError otherwise; at once when 200 reads wait or
   *   reads are suspended. The signal's reason when the signal is aborted.
   */
  async enter(signal: AbortSignal): Promise<void> {
    const isStarting = this.#state.status.kind === 'starting';
    if (isStarting && this.#waiting.size < MAX_WAITING) {
      await this.#wait(signal);
    }
    if (this.#state.status.kind === 'starting') {
      this.#rejected++;
    }
    this.requireOpen();
  }

  /** @throws DirectoryUnavailableError unless the replica may be read now. */
  requireOpen(): void {
    if (!this.#state.isServing) {
      throw unavailable(this.#state.status);
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = new AbortController();
    const resume = () => ended.abort();
    const timeout = setTimeout(resume, MAX_WAIT_MS);
    signal.addEventListener('abort', resume);
    this.#waiting.add(resume);
    await once(ended.signal, 'abort');
    clearTimeout(timeout);
    this.#waiting.delete(resume);
    signal.removeEventListener('abort', resume);
    signal.throwIfAborted();
  }
}

function unavailable(status: ReplicaStatus): DirectoryUnavailableError {
  switch (status.kind) {
    case 'suspended':
      return new DirectoryUnavailableError(status.message, {
        reason: status.reason === 'credentials' ? 'refused' : status.reason,
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

/** Why reads must be suspended after an error, or `undefined`. */
export function suspensionFor(error: unknown): SuspensionReason | undefined {
  return error instanceof DirectoryUnavailableError
    ? SUSPENSION_OF[error.reason]
    : undefined;
}
