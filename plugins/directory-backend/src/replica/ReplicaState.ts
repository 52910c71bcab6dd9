import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  DirectoryUnavailableError,
  type UnavailableReason,
} from '../directory/errors';

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
  #provenAt = -Infinity;
  #hasServed = false;
  #suspension: Extract<ReplicaStatus, { kind: 'suspended' }> | undefined;
  #suspensions = 0;

  constructor(options: {
    readonly maxStalenessMs: number;
    readonly logger: LoggerService;
  }) {
    this.maxStalenessMs = options.maxStalenessMs;
    this.#logger = options.logger;
  }

  /** Milliseconds since the replica was last known to equal the directory. */
  get ageMs(): number {
    return performance.now() - this.#provenAt;
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

  /** Suspends reads in the same turn, until the replica is proven again. */
  suspend(reason: SuspensionReason, message: string): void {
    this.#suspensions++;
    if (this.#suspension?.reason !== reason) {
      this.#logger.error(`Reads are suspended: ${message}`);
    }
    this.#suspension = { kind: 'suspended', reason, message };
  }

  /**
   * Records that the replica equals the directory as of `askedAt`, in
   * milliseconds of `performance.now()`, and resumes reads.
   */
  prove(askedAt: number): void {
    this.#provenAt = Math.max(this.#provenAt, askedAt);
    this.#hasServed = true;
    if (this.#suspension) {
      this.#suspension = undefined;
      this.#logger.info('Reads are resumed');
    }
  }
}

/** Why reads must be suspended after an error, or `undefined`. */
export function suspensionFor(error: unknown): SuspensionReason | undefined {
  return error instanceof DirectoryUnavailableError
    ? SUSPENSION_OF[error.reason]
    : undefined;
}
