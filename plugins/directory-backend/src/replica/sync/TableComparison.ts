import { metrics } from '@opentelemetry/api';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import { expectServer, type ReplicaKeys } from './ReplicaSource';
import type { TableCheck } from './TableWriter';
import type { TableWriter } from './TableWriter';

/** Corrected entries by kind. */
export type Corrections = ReadonlyMap<string, number>;

/**
 * Compares the replica with the directory while the replica is in use, and
 * corrects what differs. Several comparisons may run at the same time.
 */
export class TableComparison {
  readonly #writer: TableWriter;
  readonly #guard: (keys: ReplicaKeys) => Promise<void>;
  readonly #differences = metrics
    .getMeter('directory')
    .createCounter('directory.replica.differences', {
      description:
        'Entries in which the replica was found to be wrong, by kind',
    });
  #cancellations = 0;

  constructor(options: {
    readonly writer: TableWriter;
    /** Rejects when the mass-deletion guard rejects the keys. */
    readonly guard: (keys: ReplicaKeys) => Promise<void>;
  }) {
    this.#writer = options.writer;
    this.#guard = options.guard;
  }

  /** Discards the results of all running comparisons. */
  cancel(): void {
    this.#cancellations++;
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
    /** Called with all differences before they are corrected. */
    readonly prepare?: (check: TableCheck) => Promise<void>;
    /** Milliseconds between the read and the corrections. Default: 0. */
    readonly settleMs?: number;
    /** Whether differences are changes that a sync finds, and no errors. */
    readonly isSync?: boolean;
  }): Promise<Corrections | undefined> {
    const before = this.#cancellations;
    const check = this.#writer.startCheck();
    try {
      const keys = await options.read(check).catch(error => {
        if (before === this.#cancellations) {
          throw error;
        }
      });
      if (!keys || before !== this.#cancellations) {
        return undefined;
      }
      expectServer(keys, options);
      await this.#guard(keys);
      await check.findDeleted(keys);
      await options.prepare?.(check);
      await (options.settleMs &&
        sleep(options.settleMs, undefined, { ref: false }));
      const corrections = await this.#correct(check, before);
      for (const [kind, count] of options.isSync ? [] : corrections ?? []) {
        this.#differences.add(count, { kind });
      }
      return corrections;
    } finally {
      this.#writer.endCheck(check);
    }
  }

  async #correct(
    check: TableCheck,
    before: number,
  ): Promise<Corrections | undefined> {
    const corrections = new Map<string, number>();
    for (const portion of check.differences()) {
      if (before !== this.#cancellations) {
        return undefined;
      }
      const { kind, entries } = portion;
      if (entries.length > 0) {
        this.#writer.take(portion, performance.now());
        corrections.set(kind, (corrections.get(kind) ?? 0) + entries.length);
      }
      await nextTurn();
    }
    return before === this.#cancellations ? corrections : undefined;
  }
}
