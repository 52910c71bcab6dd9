import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { metrics } from '@opentelemetry/api';
import { type EntryRef, replicaKinds } from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { PendingRead, PendingReads } from './PendingReads';
import {
  expectServer,
  type ListedIds,
  type ReplicaIds,
  type ReplicaSource,
} from './ReplicaSource';
import { suspensionFor } from './ReplicaState';
import { countByKind, forEachMissing, type TableCheck } from './TableCheck';

/**
 * Minimum interval between lists of stable IDs. Added to the second after which
 * writes are explained, it is the two seconds that {@link BackgroundChecks} needs
 * in addition to the lists.
 */
const MIN_INTERVAL_MS = 1000;

/** Maximum share of the server's time for lists of stable IDs, per process. */
const MAX_SHARE = 0.05;

/** Minimum interval between reads of recent entries. */
const RECENT_INTERVAL_MS = 60_000;

const DAY_MS = 24 * 60 * 60_000;

/** Delay after which a failed read of all entries is repeated. */
const RETRY_MS = 5 * 60_000;

/** Maximum number of entries that are read together. */
const MAX_READ = 500;

/** Options of {@link BackgroundChecks}. */
export interface BackgroundChecksOptions {
  readonly source: Pick<
    ReplicaSource,
    'ids' | 'readRecent' | 'readAllThrottled'
  >;
  readonly tables: ReplicaTables;
  readonly logger: LoggerService;
  /** Receives the entries that differ. */
  readonly pending: PendingReads;
  /** Starts a comparison with the tables. */
  readonly startCheck: () => TableCheck;
  /** Rejects when the mass-deletion guard rejects the stable IDs. */
  readonly guard: (ids: ReplicaIds) => Promise<void>;
  /**
   * Milliseconds from one comparison of all entries to the next. Default: one
   * day.
   */
  readonly checkIntervalMs?: number;
}

interface JobOptions {
  readonly logger: LoggerService;
  /** Completes "The replica cannot …" in the log. */
  readonly description: string;
  readonly run: (server: string) => Promise<void>;
  /** Returns the minimum interval from a start to the next, in milliseconds. */
  readonly intervalMs: (tookMs: number, hasFailed: boolean) => number;
}

/** Work in the background that is repeated when it fails. */
class Job {
  isRequested = false;
  isRunning = false;
  readonly #options: JobOptions;
  #notBefore = -Infinity;
  #hasFailed = false;

  constructor(options: JobOptions) {
    this.#options = options;
  }

  startIfDue(server: string): void {
    const now = performance.now();
    if (this.isRequested && !this.isRunning && now >= this.#notBefore) {
      this.isRequested = false;
      this.isRunning = true;
      void this.#run(server, now);
    }
  }

  async #run(server: string, startedAt: number): Promise<void> {
    const { logger, description, run, intervalMs } = this.#options;
    const error = await run(server).then(
      () => undefined,
      reason => stringifyError(reason),
    );
    const hasFailed = error !== undefined;
    if (hasFailed) {
      this.isRequested = true;
      if (!this.#hasFailed) {
        logger.warn(`The replica cannot ${description}: ${error}`);
      }
    }
    this.#hasFailed = hasFailed;
    this.isRunning = false;
    this.#notBefore =
      startedAt + intervalMs(performance.now() - startedAt, hasFailed);
  }
}

/**
 * Finds entries that were deleted or changed without a position that tells
 * which, while the replica is in use. An example is `ipa user-del --preserve`:
 * the entry moves to where the account may not read it. It compares
 *
 * - the stable IDs of all entries, when this is requested, for up to 5% of the
 *   server's time in each process: a missing entry is found within 21 times the
 *   duration of one list and two seconds
 * - recent entries, after the stable IDs
 * - all entries, once a day: for example, access rules can change without a
 *   write to the affected entries
 *
 * It writes nothing: the next poll reads the entries that differ again, together
 * with others that changed with them, such as the groups of a renamed user.
 */
export class BackgroundChecks {
  /**
   * Whether a comparison of all entries failed because the account lacks a right
   * on an entry. No other read checks entries that do not change.
   */
  hasFailedAccess = false;
  readonly #options: BackgroundChecksOptions;
  readonly #ids: Job;
  readonly #recent: Job;
  readonly #all: Job;
  readonly #differences = metrics
    .getMeter('directory')
    .createCounter('directory.replica.differences', {
      description: 'Entries that a comparison with the directory corrected',
    });
  /** Start of the next comparison of all entries. */
  #allDueAt: number;

  constructor(options: BackgroundChecksOptions) {
    const { logger } = options;
    this.#options = options;
    this.#allDueAt = performance.now() + this.#intervalMs;
    this.#ids = new Job({
      logger,
      description: 'check for deleted entries',
      run: server => this.#compareIds(server),
      intervalMs: tookMs => Math.max(MIN_INTERVAL_MS, tookMs / MAX_SHARE),
    });
    this.#recent = new Job({
      logger,
      description: 'check recent entries',
      run: server => this.#compareRecent(server),
      intervalMs: () => RECENT_INTERVAL_MS,
    });
    this.#all = new Job({
      logger,
      description: 'be compared with the directory',
      run: server => this.#compareAll(server),
      intervalMs: (tookMs, hasFailed) =>
        hasFailed ? tookMs + Math.min(RETRY_MS, this.#intervalMs) : 0,
    });
  }

  /** Requests a comparison of the stable IDs. */
  requestIds(): void {
    this.#ids.isRequested = true;
  }

  /** Requests a comparison of all entries. */
  requestAll(): void {
    this.#all.isRequested = true;
  }

  /** Starts the checks that are due. */
  startDue(server: string): void {
    if (performance.now() >= this.#allDueAt) {
      this.requestAll();
    }
    for (const job of [this.#recent, this.#ids, this.#all]) {
      job.startIfDue(server);
    }
  }

  /**
   * Lists the stable IDs, which ends a request for it. Entries that the tables
   * lack are read with a poll.
   */
  async listIds(): Promise<ListedIds> {
    const { source, tables } = this.#options;
    this.#ids.isRequested = false;
    const listed = await source.ids();
    const unknown: EntryRef[] = [];
    for (const kind of replicaKinds) {
      const known = {
        has: (id: string) =>
          tables.has({ kind, id }) || tables.unreplicated.has(id),
      };
      await forEachMissing(listed[kind], known, id =>
        unknown.push({ kind, id }),
      );
    }
    this.#read(unknown);
    this.#recent.isRequested = true;
    return listed;
  }

  /** Reads all entries into a comparison. */
  async readAll(check: TableCheck): Promise<ListedIds> {
    try {
      return await this.#options.source.readAllThrottled(batch =>
        check.compare(batch),
      );
    } catch (error) {
      this.hasFailedAccess ||= suspensionFor(error) === 'accessCheck';
      throw error;
    }
  }

  async #compareIds(server: string): Promise<void> {
    const { startCheck, guard, logger } = this.#options;
    const listed = await this.listIds();
    expectServer(listed, { server });
    await guard(listed);
    const check = startCheck();
    await check.findDeleted(listed);
    if (check.refs.length > 0) {
      logger.info(
        'Entries are read again that the directory no longer lists',
        countByKind(check.refs),
      );
    }
    this.#read(check.refs);
  }

  async #compareRecent(server: string): Promise<void> {
    const { startCheck, source } = this.#options;
    const check = startCheck();
    await source.readRecent(server, batch => check.compare(batch));
    this.#read(check.refs);
  }

  async #compareAll(server: string): Promise<void> {
    const { startCheck, guard } = this.#options;
    this.#allDueAt = Infinity;
    const check = startCheck();
    const ids = await this.readAll(check);
    expectServer(ids, { server });
    await guard(ids);
    await check.findDeleted(ids);
    this.#read(check.refs, corrected => this.#reportDifferences(corrected));
    this.#allDueAt = performance.now() + this.#intervalMs;
  }

  #reportDifferences(corrected: readonly EntryRef[]): void {
    const counts = countByKind(corrected);
    for (const [kind, count] of Object.entries(counts)) {
      this.#differences.add(count, { kind });
    }
    if (corrected.length > 0) {
      this.#options.logger.warn(
        'The replica differed from the directory and is corrected',
        counts,
      );
    }
  }

  #read(
    refs: readonly EntryRef[],
    onCorrected?: PendingRead['onCorrected'],
  ): void {
    for (let at = 0; at < refs.length; at += MAX_READ) {
      const some = refs.slice(at, at + MAX_READ);
      this.#options.pending.add({ refs: () => some, onCorrected });
    }
  }

  get #intervalMs(): number {
    return this.#options.checkIntervalMs ?? DAY_MS;
  }
}
