import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { metrics } from '@opentelemetry/api';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
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
    const { logger, intervalMs, writer } = this.#options;
    this.#isReading = true;
    const turn = this.#turn;
    this.#read(server, turn)
      .catch(error => {
        if (turn === this.#turn) {
          logger.warn(
            `The copy cannot be compared with the directory: ${stringifyError(
              error,
            )}`,
          );
        }
      })
      .finally(() => {
        writer.endCheck();
        this.#isReading = false;
        this.#dueAt = performance.now() + intervalMs;
      });
  }

  /** What is being read is not used: the copy is not in use any more. */
  abandon(): void {
    this.#turn++;
    this.#options.writer.endCheck();
  }

  async #read(server: string, turn: number): Promise<void> {
    const { source, writer, judge, onShrunk } = this.#options;
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
    await this.#putRight(check, turn);
  }

  async #putRight(check: TableCheck, turn: number): Promise<void> {
    const { writer, logger } = this.#options;
    const counts = new Map<string, number>();
    for (const portion of check.differences()) {
      if (turn !== this.#turn) {
        return;
      }
      const { kind, entries } = portion;
      writer.take(portion, performance.now());
      counts.set(kind, (counts.get(kind) ?? 0) + entries.length);
      this.#differences.add(entries.length, { kind });
      await nextTurn();
    }
    const found = [...counts].filter(([, count]) => count > 0);
    if (found.length > 0) {
      logger.warn(
        `The copy was not what the directory is, and is put right: ${found
          .map(([kind, count]) => `${kind} ${count}`)
          .join(', ')}`,
      );
    }
  }
}
