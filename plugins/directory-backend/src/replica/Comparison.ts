import { metrics } from '@opentelemetry/api';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import { expectServer } from './expectServer';
import type { ReplicaKeys } from './ReplicaSource';
import type { TableCheck } from './TableCheck';
import type { TableWriter } from './TableWriter';

/** Corrected entries by kind. */
export type Corrections = ReadonlyMap<string, number>;

/**
 * Compares the replica with the directory while the replica is in use, and
 * corrects what differs. Several comparisons may run at the same time.
 */
export class Comparison {
  readonly #writer: TableWriter;
  readonly #guard: (keys: ReplicaKeys) => void;
  readonly #differences = metrics
    .getMeter('directory')
    .createCounter('directory.replica.differences', {
      description:
        'Entries in which the replica was found to be wrong, by kind',
    });
  #epoch = 0;

  constructor(options: {
    readonly writer: TableWriter;
    /** @throws Error when the mass-deletion guard rejects the keys. */
    readonly guard: (keys: ReplicaKeys) => void;
  }) {
    this.#writer = options.writer;
    this.#guard = options.guard;
  }

  /** Discards the results of all running comparisons. */
  cancel(): void {
    this.#epoch++;
  }

  /**
   * Compares once.
   *
   * @returns the corrections, or `undefined` when the comparison was cancelled
   * @throws Error when the directory cannot be read, another server responded,
   *   or the mass-deletion guard rejected the keys
   */
  async run(options: {
    readonly server: string;
    /** Reads all keys, and reports the entries that it reads to the check. */
    readonly read: (check: TableCheck) => Promise<ReplicaKeys>;
    /** Milliseconds between the read and the corrections. Default: 0. */
    readonly settleMs?: number;
  }): Promise<Corrections | undefined> {
    const epoch = this.#epoch;
    const check = this.#writer.startCheck();
    try {
      const keys = await options.read(check).catch(error => {
        if (epoch === this.#epoch) {
          throw error;
        }
      });
      if (!keys || epoch !== this.#epoch) {
        return undefined;
      }
      expectServer(keys, options);
      this.#guard(keys);
      await check.findDeleted(keys);
      await (options.settleMs &&
        sleep(options.settleMs, undefined, { ref: false }));
      return await this.#correct(check, epoch);
    } finally {
      this.#writer.endCheck(check);
    }
  }

  async #correct(
    check: TableCheck,
    epoch: number,
  ): Promise<Corrections | undefined> {
    const corrections = new Map<string, number>();
    for (const portion of check.differences()) {
      if (epoch !== this.#epoch) {
        return undefined;
      }
      const { kind, entries } = portion;
      if (entries.length > 0) {
        this.#writer.take(portion, performance.now());
        corrections.set(kind, (corrections.get(kind) ?? 0) + entries.length);
        this.#differences.add(entries.length, { kind });
      }
      await nextTurn();
    }
    return epoch === this.#epoch ? corrections : undefined;
  }
}
