import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { TableComparison } from './TableComparison';
import { suspensionFor } from './ReplicaState';
import type { ReplicaSource } from './ReplicaSource';

/** Longer than a write takes until it is in the replica. */
const SETTLING_MS = 3000;

/**
 * Compares all entries with the directory at long intervals, while the replica
 * is in use. Nothing should differ, but what an account may read can change
 * without a write to the entries concerned.
 */
export class ConsistencyCheck {
  readonly #source: Pick<ReplicaSource, 'readAllThrottled'>;
  readonly #comparison: TableComparison;
  readonly #logger: LoggerService;
  readonly #intervalMs: number;
  #dueAt: number;
  #isReading = false;
  #hasFailedAccess = false;

  constructor(options: {
    readonly source: Pick<ReplicaSource, 'readAllThrottled'>;
    readonly comparison: TableComparison;
    readonly logger: LoggerService;
    /** Milliseconds from the end of one comparison to the next. */
    readonly intervalMs: number;
  }) {
    this.#source = options.source;
    this.#comparison = options.comparison;
    this.#logger = options.logger;
    this.#intervalMs = options.intervalMs;
    this.#dueAt = performance.now() + options.intervalMs;
  }

  /** Starts a comparison in the background when one is due. */
  startIfDue(server: string): void {
    if (this.#isReading || performance.now() < this.#dueAt) {
      return;
    }
    this.#isReading = true;
    this.#read(server)
      .catch(error =>
        this.#logger.warn(
          `The replica cannot be compared with the directory: ${stringifyError(
            error,
          )}`,
        ),
      )
      .finally(() => {
        this.#isReading = false;
        this.#dueAt = performance.now() + this.#intervalMs;
      });
  }

  /**
   * Repeats a comparison that the access check of an entry has ended: no other
   * read checks an entry that does not change.
   *
   * @throws Error when it does not finish.
   */
  async repeatFailed(server: string): Promise<void> {
    if (this.#hasFailedAccess) {
      if (!(await this.#read(server))) {
        throw new Error('The comparison was cancelled');
      }
      this.#hasFailedAccess = false;
    }
  }

  /** Resolves with whether the comparison has finished. */
  async #read(server: string): Promise<boolean> {
    const corrections = await this.#comparison.run({
      server,
      read: async check => {
        try {
          return await this.#source.readAllThrottled(portion =>
            check.look(portion),
          );
        } catch (error) {
          this.#hasFailedAccess ||= suspensionFor(error) === 'accessCheck';
          throw error;
        }
      },
      // By then what was written during the read is in the replica.
      settleMs: SETTLING_MS,
    });
    if (corrections?.size) {
      this.#logger.warn(
        `The replica differed from the directory and is corrected: ${[
          ...corrections,
        ]
          .map(([kind, count]) => `${kind} ${count}`)
          .join(', ')}`,
      );
    }
    return corrections !== undefined;
  }
}
