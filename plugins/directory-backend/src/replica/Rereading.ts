import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { metrics } from '@opentelemetry/api';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicaKeys, ReplicaSource } from './ReplicaSource';
import type { TableCheck } from './TableCheck';
import type { TableWriter } from './TableWriter';

/** What a reading of all needs. */
interface RereadingOptions {
  readonly source: Pick<ReplicaSource, 'readAllGently'>;
  readonly writer: TableWriter;
  readonly logger: LoggerService;
  /** Milliseconds from the end of one to the next. */
  readonly intervalMs: number;
  /** @throws Error when all that was read is not believed. */
  readonly judge: (keys: ReplicaKeys) => void;
  /** Called then. */
  readonly onShrunk: () => void;
}

/** Longer than a write takes until it is in the copy. */
const SETTLING_MS = 3000;

/**
 * Reads the whole directory again now and then, while its copy is in use, and
 * puts right what differs. Nothing should; but what an account may read can
 * change without any write to the entries concerned.
 */
export class Rereading {
  readonly #options: RereadingOptions;
  readonly #differences = metrics
    .getMeter('directory')
    .createCounter('directory.replica.differences', {
      description: 'Entries in which the copy was found to be wrong, by kind',
    });
  #dueAt: number;
  #isReading = false;
  /** Moves when what is being read is no longer of use. */
  #turn = 0;

  constructor(options: RereadingOptions) {
    this.#options = options;
    this.#dueAt = performance.now() + options.intervalMs;
  }

  /** Begins when it is time to, and goes on in the background. */
  startIfDue(server: string): void {
    if (this.#isReading || performance.now() < this.#dueAt) {
      return;
    }
    const { logger, intervalMs } = this.#options;
    this.#isReading = true;
    this.#read(server)
      .catch(error =>
        logger.warn(
          `The copy cannot be compared with the directory: ${stringifyError(
            error,
          )}`,
        ),
      )
      .finally(() => {
        this.#isReading = false;
        this.#dueAt = performance.now() + intervalMs;
      });
  }

  /** What is being read is not used: the copy is not in use any more. */
  abandon(): void {
    this.#turn++;
    this.#options.writer.endCheck();
  }

  async #read(server: string): Promise<void> {
    const { source, writer, judge, onShrunk } = this.#options;
    const turn = this.#turn;
    const check = writer.startCheck();
    const keys = await source.readAllGently(portion => check.look(portion));
    if (turn !== this.#turn || keys.server !== server) {
      return;
    }
    try {
      judge(keys);
    } catch (error) {
      onShrunk();
      throw error;
    }
    await check.lookForGone(keys);
    // By then what was written while the last of it was read is in the copy.
    await sleep(SETTLING_MS, undefined, { ref: false });
    if (turn === this.#turn) {
      this.#putRight(check.differences());
    }
  }

  #putRight(differences: ReturnType<TableCheck['differences']>): void {
    const { writer, logger } = this.#options;
    writer.endCheck();
    for (const portion of differences) {
      writer.take(portion, performance.now());
      this.#differences.add(portion.entries.length, { kind: portion.kind });
    }
    const counts = differences
      .filter(({ entries }) => entries.length > 0)
      .map(({ kind, entries }) => `${kind} ${entries.length}`);
    if (counts.length > 0) {
      logger.warn(
        `The copy was not what the directory is, and is put right: ${counts.join(
          ', ',
        )}`,
      );
    }
  }
}
