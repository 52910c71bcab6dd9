import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ReplicaSource } from './ReplicaSource';
import { suspensionFor } from './ReplicaState';
import type { TableComparison } from './TableComparison';

const DAY_MS = 24 * 60 * 60_000;

/** Delay after which a check is repeated that failed or was canceled. */
const RETRY_MS = 5 * 60_000;

/**
 * Delay in milliseconds between the read and the corrections; longer than a
 * write takes to reach the replica.
 */
const SETTLING_MS = 3000;

/** Options of {@link DailyCheck}. */
export interface DailyCheckOptions {
  readonly source: Pick<ReplicaSource, 'readAllThrottled'>;
  readonly comparison: TableComparison;
  readonly logger: LoggerService;
  /** Milliseconds from the end of one check to the next. Default: one day. */
  readonly checkIntervalMs?: number;
  /** Milliseconds between the read and the corrections. Default: 3000. */
  readonly settlingMs?: number;
}

/**
 * Compares all entries with the directory while the replica is in use.
 * Differences are rare: for example, access rules can change without a write to
 * the affected entries.
 */
export class DailyCheck {
  readonly #options: DailyCheckOptions;
  #dueAt: number;
  #isRunning = false;
  #hasFailedAccess = false;

  constructor(options: DailyCheckOptions) {
    this.#options = options;
    this.#dueAt = performance.now() + this.#intervalMs;
  }

  get #intervalMs(): number {
    return this.#options.checkIntervalMs ?? DAY_MS;
  }

  /** Makes a check due immediately. */
  request(): void {
    this.#dueAt = -Infinity;
  }

  /** Starts a check in the background if one is due. */
  startIfDue(server: string): void {
    if (this.#isRunning || performance.now() < this.#dueAt) {
      return;
    }
    this.#isRunning = true;
    this.#dueAt = Infinity;
    this.#run(server)
      .catch(error => {
        this.#options.logger.warn(
          `The replica cannot be compared with the directory: ${stringifyError(
            error,
          )}`,
        );
        return false;
      })
      .then(hasFinished => {
        this.#isRunning = false;
        const delayMs = hasFinished
          ? this.#intervalMs
          : Math.min(RETRY_MS, this.#intervalMs);
        // Keeps a check due that was requested in the meantime.
        this.#dueAt = Math.min(this.#dueAt, performance.now() + delayMs);
      });
  }

  /**
   * Repeats a check that failed because the account lacks a right on an entry.
   * No other read checks entries that do not change.
   *
   * @throws Error when the check is canceled or fails again.
   */
  async repeatFailed(server: string): Promise<void> {
    if (this.#hasFailedAccess) {
      if (!(await this.#run(server))) {
        throw new Error('The comparison of all entries was canceled');
      }
      this.#hasFailedAccess = false;
    }
  }

  /** Resolves to whether the check finished without being canceled. */
  async #run(server: string): Promise<boolean> {
    const { source, comparison, logger, settlingMs } = this.#options;
    const corrections = await comparison.run({
      server,
      read: async check => {
        try {
          return await source.readAllThrottled(batch => check.compare(batch));
        } catch (error) {
          this.#hasFailedAccess ||= suspensionFor(error) === 'accessCheck';
          throw error;
        }
      },
      settleMs: settlingMs ?? SETTLING_MS,
    });
    if (corrections?.size) {
      const counts = [...corrections].map(
        ([kind, count]) => `${kind} ${count}`,
      );
      logger.warn(
        `The replica differed from the directory and was corrected: ${counts.join(
          ', ',
        )}`,
      );
    }
    return corrections !== undefined;
  }
}
