import { metrics } from '@opentelemetry/api';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import {
  expectServer,
  type ListedIds,
  type ReplicaIds,
  type ReplicaSource,
} from './ReplicaSource';
import type { ReplicaBatch, ReplicaKind } from '../tables/entries';
import type { TableCheck } from './TableCheck';
import type { TableWriter } from './TableWriter';

/** Maximum number of missing entries that are read before they are deleted. */
const MAX_READ_AGAIN = 50;

/** Corrected entries by kind. */
export type Corrections = ReadonlyMap<ReplicaKind, number>;

interface TableComparisonOptions {
  readonly source: Pick<ReplicaSource, 'readEntries' | 'verifyAccess'>;
  readonly writer: TableWriter;
  /** Rejects when the mass-deletion guard rejects the stable IDs. */
  readonly guard: (ids: ReplicaIds) => Promise<void>;
}

/**
 * Compares the tables with the directory while they are in use, and corrects
 * the differences. Several comparisons may run at the same time.
 */
export class TableComparison {
  readonly #options: TableComparisonOptions;
  readonly #differences = metrics
    .getMeter('directory')
    .createCounter('directory.replica.differences', {
      description: 'Entries that a comparison with the directory corrected',
    });
  #cancellations = 0;

  constructor(options: TableComparisonOptions) {
    this.#options = options;
  }

  /** Discards the results of all running comparisons. */
  cancel(): void {
    this.#cancellations++;
  }

  /**
   * Compares once.
   *
   * @returns the corrections; `undefined` when the comparison was canceled
   * @throws Error when the directory cannot be read, another server responded,
   *   the mass-deletion guard rejected the stable IDs, or entries are missing
   *   and the account lacks a right
   */
  async run(options: {
    readonly server: string;
    /** Reads all stable IDs and reports entries that it reads to the check. */
    readonly read: (check: TableCheck) => Promise<ListedIds>;
    /** Called before the differences are corrected. */
    readonly onFound?: () => void;
    /** Corrects some differences. Default: writes them to the tables. */
    readonly correct?: (batch: ReplicaBatch) => void;
    /** Milliseconds between the read and the corrections. Default: 0. */
    readonly settleMs?: number;
    /**
     * Whether the differences are changes found by a sync rather than errors.
     */
    readonly isSync?: boolean;
  }): Promise<Corrections | undefined> {
    const { source, writer, guard } = this.#options;
    const before = this.#cancellations;
    const check = writer.startCheck();
    try {
      const ids = await options.read(check).catch(error => {
        if (before === this.#cancellations) {
          throw error;
        }
      });
      if (!ids || before !== this.#cancellations) {
        return undefined;
      }
      expectServer(ids, options);
      await guard(ids);
      const deleted = await check.findDeleted(ids);
      if (deleted.length > 0) {
        await source.verifyAccess();
      }
      if (deleted.length <= MAX_READ_AGAIN) {
        // A list can miss an entry that is being renamed.
        await source.readEntries(options.server, deleted, batch =>
          check.compare(batch),
        );
      }
      options.onFound?.();
      await (options.settleMs &&
        sleep(options.settleMs, undefined, { ref: false }));
      const corrections = await this.#correct(
        check,
        before,
        options.correct ?? (batch => writer.write(batch)),
      );
      for (const [kind, count] of options.isSync ? [] : (corrections ?? [])) {
        this.#differences.add(count, { kind });
      }
      return corrections;
    } finally {
      writer.endCheck(check);
    }
  }

  async #correct(
    check: TableCheck,
    before: number,
    correct: (batch: ReplicaBatch) => void,
  ): Promise<Corrections | undefined> {
    const corrections = new Map<ReplicaKind, number>();
    for (const batch of check.differences()) {
      if (before !== this.#cancellations) {
        return undefined;
      }
      const { kind, entries } = batch;
      if (entries.length > 0) {
        correct(batch);
        corrections.set(kind, (corrections.get(kind) ?? 0) + entries.length);
      }
      await nextTurn();
    }
    return before === this.#cancellations ? corrections : undefined;
  }
}
