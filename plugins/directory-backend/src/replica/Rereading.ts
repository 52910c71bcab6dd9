import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { Comparison } from './Comparison';
import type { ReplicaSource } from './ReplicaSource';

/** Longer than a write takes until it is in the replica. */
const SETTLING_MS = 3000;

/**
 * Compares all entries with the directory at long intervals, while the replica
 * is in use. Nothing should differ, but what an account may read can change
 * without a write to the entries concerned.
 */
export class Rereading {
  readonly #source: Pick<ReplicaSource, 'readAllGently'>;
  readonly #comparison: Comparison;
  readonly #logger: LoggerService;
  readonly #intervalMs: number;
  #dueAt: number;
  #isReading = false;

  constructor(options: {
    readonly source: Pick<ReplicaSource, 'readAllGently'>;
    readonly comparison: Comparison;
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

  async #read(server: string): Promise<void> {
    const corrections = await this.#comparison.run({
      server,
      read: check => this.#source.readAllGently(portion => check.look(portion)),
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
  }
}
