import { DirectoryUnavailableError } from '../directory/errors';
import type { ReplicaKeys } from './ReplicaSource';
import type { ReplicaTables } from './ReplicaTables';

/** In a small directory these few are a large share. */
const MAY_BE_GONE = 10;

/**
 * Does not believe a directory that has much less than it had: one whose access
 * rules have been broken answers so, and calls it success.
 */
export class ShrinkageGuard {
  readonly #tables: ReplicaTables;
  readonly #maxShrinkage: number;
  #refusal: string | undefined;
  #isAccepted = false;

  constructor(options: {
    readonly tables: ReplicaTables;
    /** The share of entries that may be gone all at once, 0 to 1. */
    readonly maxShrinkage: number;
  }) {
    this.#tables = options.tables;
    this.#maxShrinkage = options.maxShrinkage;
  }

  /** Why the directory was not believed the last time, if that is so. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Believes it the next time, however little it has. */
  accept(): void {
    this.#isAccepted = true;
  }

  /**
   * @throws DirectoryUnavailableError with the reason `quarantine` when what was
   *   read is much less than there was.
   */
  judge(read: Pick<ReplicaKeys, 'users' | 'groups'>): void {
    const { users, groups } = this.#tables;
    const isTooLittle =
      !this.#isAccepted &&
      ((read.users.size === 0 && users.served.size > 0) ||
        this.#isMuchLess(read.users.size, users.served.size) ||
        this.#isMuchLess(read.groups.size, groups.size));
    this.#refusal = isTooLittle
      ? `The directory has ${read.users.size} users and ${read.groups.size} groups all at once, where it had ${users.served.size} and ${groups.size}`
      : undefined;
    if (this.#refusal) {
      throw new DirectoryUnavailableError(this.#refusal, {
        reason: 'quarantine',
      });
    }
    this.#isAccepted = false;
  }

  #isMuchLess(now: number, before: number): boolean {
    const gone = before - now;
    return gone > MAY_BE_GONE && gone > before * this.#maxShrinkage;
  }
}
