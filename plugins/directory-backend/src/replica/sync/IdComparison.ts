import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { ListedIds, ReplicaSource } from './ReplicaSource';
import {
  type EntryRef,
  type ReplicaBatch,
  replicaKinds,
} from '../tables/entries';
import { forEachMissing } from './TableCheck';
import type { TableComparison } from './TableComparison';
import type { TableWriter } from './TableWriter';

/** Minimum interval between comparisons. */
const MIN_INTERVAL_MS = 1000;

/** Maximum share of the server's time for comparisons, per process. */
const MAX_SHARE = 0.05;

/** Maximum growth factor of the expected duration after a slower comparison. */
const MAX_GROWTH = 2;

/**
 * The first comparison takes up to twice as long: its code is not compiled yet.
 */
const COLD_FACTOR = 2;

/** Minimum interval between reads of recent entries. */
const RECENT_INTERVAL_MS = 60_000;

/** Maximum number of differing entries to read with a poll. */
const MAX_READ = 500;

interface IdComparisonOptions {
  readonly source: Pick<ReplicaSource, 'ids' | 'readRecent'>;
  readonly comparison: TableComparison;
  readonly tables: ReplicaTables;
  readonly writer: TableWriter;
  readonly logger: LoggerService;
}

/**
 * Finds entries that were deleted or changed without a position that tells
 * which, by comparing the stable IDs of all entries. An example is `ipa user-del
 * --preserve`: the entry moves to where the account may not read it.
 *
 * Comparisons that are requested continuously take up to 5% of the server's
 * time in each process: an entry is removed within 21 times the duration of one list and two
 * seconds.
 */
export class IdComparison {
  readonly #options: IdComparisonOptions;
  #isRequested = false;
  #isRunning = false;
  #hasFailed = false;
  #nextAt = -Infinity;
  /** Whether recent entries must be read because of a comparison. */
  #mustReadRecent = false;
  #nextRecentAt = -Infinity;
  /** Expected duration of a comparison on an idle server, in milliseconds. */
  #durationMs: number | undefined;
  /** Entries that the last comparison in the background did not find. */
  #missing: EntryRef[] = [];
  /** Entries that must be read, by stable ID. */
  readonly #unread = new Map<string, EntryRef>();
  /** Stable IDs of entries that the directory lists and that are not served. */
  readonly #unreplicated = new Set<string>();

  constructor(options: IdComparisonOptions) {
    this.#options = options;
  }

  /** Requests a comparison in the background. */
  request(): void {
    this.#isRequested = true;
  }

  /**
   * Entries to read with the next poll, because the tables lack them or differ.
   * A comparison does not write them, because other entries that changed with
   * them, such as the groups of a renamed user, must be written together.
   */
  get unread(): readonly EntryRef[] {
    return [...this.#unread.values()].slice(0, MAX_READ);
  }

  /**
   * Returns the entries that a comparison in the background did not find, once.
   * The next poll deletes them, together with changes made before the deletion.
   */
  takeMissing(): readonly EntryRef[] {
    const missing = this.#missing;
    this.#missing = [];
    return missing;
  }

  /** Records that entries were read. */
  clear(read: readonly EntryRef[]): void {
    for (const ref of read) {
      this.#unread.delete(ref.id);
      if (!this.#options.tables.has(ref)) {
        this.#unreplicated.add(ref.id);
      }
    }
  }

  /**
   * Starts a requested comparison in the background if it is due, and reads
   * recent entries at most once a minute.
   */
  startIfDue(server: string): void {
    if (this.#mustReadRecent && performance.now() >= this.#nextRecentAt) {
      this.#startReadingRecent(server);
    }
    const isDue = this.#isRequested && performance.now() >= this.#nextAt;
    if (this.#isRunning || !isDue) {
      return;
    }
    this.#isRunning = true;
    this.#runLimited(server)
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

  /**
   * Compares now, and deletes missing entries. Resolves to whether the
   * comparison was not canceled.
   */
  run(server: string): Promise<boolean> {
    return this.#run(server);
  }

  async #run(
    server: string,
    correct?: (batch: ReplicaBatch) => void,
  ): Promise<boolean> {
    const { source, comparison, logger } = this.#options;
    this.#isRequested = false;
    let listed: ListedIds | undefined;
    const corrections = await comparison.run({
      server,
      read: async () => {
        listed = await source.ids();
        return listed;
      },
      correct,
      isSync: true,
    });
    for (const [kind, count] of corrections ?? []) {
      logger.info(
        `Removed entries that the directory no longer returns: ${kind} ${count}`,
      );
    }
    if (!corrections || !listed) {
      return false;
    }
    await this.#findUnknown(listed);
    this.#mustReadRecent = true;
    return true;
  }

  #startReadingRecent(server: string): void {
    const startedAt = performance.now();
    this.#mustReadRecent = false;
    this.#nextRecentAt = Infinity;
    this.#readRecent(server)
      .catch(error => {
        this.#mustReadRecent = true;
        this.#options.logger.warn(
          `The replica cannot check recent entries: ${stringifyError(error)}`,
        );
      })
      .finally(() => {
        this.#nextRecentAt = startedAt + RECENT_INTERVAL_MS;
      });
  }

  async #readRecent(server: string): Promise<void> {
    const { source, writer } = this.#options;
    const check = writer.startCheck();
    try {
      await source.readRecent(server, batch => check.compare(batch));
      for (const { kind, entries } of check.differences()) {
        entries.forEach(({ id }) => this.#unread.set(id, { kind, id }));
      }
    } finally {
      writer.endCheck(check);
    }
  }

  async #runLimited(server: string): Promise<void> {
    const startedAt = performance.now();
    const expectedMs = this.#durationMs;
    let costMs = expectedMs ?? 0;
    try {
      await this.#run(server, ({ kind, entries }) =>
        this.#missing.push(...entries.map(({ id }) => ({ kind, id }))),
      );
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
    for (const kind of replicaKinds) {
      const known = {
        has: (id: string) =>
          tables.has({ kind, id }) || this.#unreplicated.has(id),
      };
      await forEachMissing(listed[kind], known, id =>
        this.#unread.set(id, { kind, id }),
      );
    }
  }
}
