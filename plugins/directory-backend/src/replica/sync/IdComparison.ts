import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  type EntryRef,
  type ListedIds,
  type ReplicaBatch,
  replicaKinds,
  type ReplicaSource,
} from './ReplicaSource';
import { forEachMissing } from './TableCheck';
import type { TableComparison } from './TableComparison';
import type { TableWriter } from './TableWriter';

/** Minimum interval between comparisons. */
const MIN_INTERVAL_MS = 1000;

/** Maximum share of the server's time for comparisons. */
const MAX_SHARE = 0.05;

/** Maximum growth factor of the expected duration after a slower comparison. */
const MAX_GROWTH = 2;

/**
 * The first comparison takes up to twice as long: its code is not compiled yet.
 */
const COLD_FACTOR = 2;

/** Longer than a new entry takes to reach the replica. */
const SETTLING_MS = 3000;

interface IdComparisonOptions {
  readonly source: Pick<ReplicaSource, 'ids' | 'readEntries'>;
  readonly comparison: TableComparison;
  readonly tables: ReplicaTables;
  readonly writer: TableWriter;
  readonly logger: LoggerService;
}

/** Entries that the directory has and the tables lack. */
interface UnknownEntries {
  readonly server: string;
  readonly entries: readonly EntryRef[];
  /** Time from `performance.now()`. */
  readonly readAt: number;
}

/**
 * Finds entries that were deleted or changed without a position that tells
 * which, by comparing the stable IDs of all entries. `ipa user-del --preserve` is an
 * example: the entry moves to where the account may not read it.
 *
 * Comparisons that are requested continuously take up to 5% of the server's
 * time: an entry is removed within 21 times the duration of one list and two
 * seconds.
 */
export class IdComparison {
  readonly #options: IdComparisonOptions;
  #isRequested = false;
  #isRunning = false;
  #hasFailed = false;
  #nextAt = -Infinity;
  /** Expected duration of a comparison on an idle server, in milliseconds. */
  #durationMs: number | undefined;
  #unknown: UnknownEntries | undefined;
  /** Stable IDs of entries that the directory lists and that are not served. */
  readonly #unreplicated = new Set<string>();

  constructor(options: IdComparisonOptions) {
    this.#options = options;
  }

  /** Requests a comparison in the background. */
  request(): void {
    this.#isRequested = true;
  }

  /** Starts a requested comparison in the background if it is due. */
  startIfDue(server: string): void {
    const now = performance.now();
    const isDue = this.#isRequested && now >= this.#nextAt;
    const isReadDue = now >= (this.#unknown?.readAt ?? Infinity);
    if (this.#isRunning || !(isDue || isReadDue)) {
      return;
    }
    this.#isRunning = true;
    (isReadDue ? this.#readUnknown(server) : this.#runLimited(server))
      .then(() => {
        this.#hasFailed = false;
      })
      .catch(error => {
        if (!this.#hasFailed) {
          this.#options.logger.warn(
            `The replica cannot check for deleted entries: ${stringifyError(
              error,
            )}`,
          );
        }
        this.#hasFailed = true;
      })
      .finally(() => {
        this.#isRunning = false;
      });
  }

  /** Compares now. Resolves to whether the comparison was not canceled. */
  async run(server: string): Promise<boolean> {
    const { source, comparison, logger } = this.#options;
    this.#isRequested = false;
    let listed: ListedIds | undefined;
    const corrections = await comparison.run({
      server,
      read: async check => {
        listed = await source.ids(batch => check.compare(batch));
        return listed;
      },
      isSync: true,
    });
    for (const [kind, count] of corrections ?? []) {
      logger.info(
        `Corrected entries that changed without a position: ${kind} ${count}`,
      );
    }
    if (corrections && listed) {
      await this.#findUnknown(listed);
    }
    return corrections !== undefined;
  }

  async #runLimited(server: string): Promise<void> {
    const startedAt = performance.now();
    const expectedMs = this.#durationMs;
    let costMs = expectedMs ?? 0;
    try {
      await this.run(server);
      const tookMs = performance.now() - startedAt;
      costMs =
        expectedMs === undefined
          ? tookMs / COLD_FACTOR
          : Math.min(tookMs, expectedMs * MAX_GROWTH);
      this.#durationMs = costMs;
    } catch (error) {
      this.#isRequested = true;
      costMs = Math.max(costMs, performance.now() - startedAt);
      throw error;
    } finally {
      this.#nextAt = startedAt + Math.max(MIN_INTERVAL_MS, costMs / MAX_SHARE);
    }
  }

  async #findUnknown(listed: ListedIds): Promise<void> {
    const { tables } = this.#options;
    const entries: EntryRef[] = [];
    for (const kind of replicaKinds) {
      const known = {
        has: (id: string) =>
          isKnown(tables, { kind, id }) || this.#unreplicated.has(id),
      };
      await forEachMissing(listed[kind], known, id =>
        entries.push({ kind, id }),
      );
    }
    this.#unknown =
      entries.length > 0
        ? {
            server: listed.server,
            entries,
            readAt: performance.now() + SETTLING_MS,
          }
        : undefined;
  }

  /** Reads unknown entries that have not been read in the meantime. */
  async #readUnknown(server: string): Promise<void> {
    const { source, tables, writer } = this.#options;
    const unknown = this.#unknown!;
    this.#unknown = undefined;
    const entries = unknown.entries.filter(each => !isKnown(tables, each));
    if (entries.length === 0 || unknown.server !== server) {
      return;
    }
    const check = writer.startCheck();
    try {
      const batches: ReplicaBatch[] = [];
      await source.readEntries(server, entries, batch => {
        batches.push(batch);
      });
      for (const batch of batches) {
        writer.write({
          ...batch,
          entries: batch.entries.filter(({ id }) => !check.wasWritten(id)),
        } as ReplicaBatch);
      }
    } finally {
      writer.endCheck(check);
    }
    for (const each of entries) {
      if (!isKnown(tables, each)) {
        this.#unreplicated.add(each.id);
      }
    }
  }
}

function isKnown(tables: ReplicaTables, { kind, id }: EntryRef): boolean {
  return kind === 'agreements'
    ? tables.agreements.has(id)
    : tables[kind].keyOf(id) !== undefined;
}
