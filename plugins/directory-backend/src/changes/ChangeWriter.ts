import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import type {
  CurrentPosition,
  ReplicaTables,
  TableObserver,
  WrittenEntries,
} from '@directory-gateway/directory-core';
import {
  CATCH_UP_MS,
  type ChangeLog,
  type ComparePositions,
  type Lease,
  LEASE_MS,
  type Position,
  TenureEndedError,
} from './ChangeLog';
import { KnownEntries, type Served } from './KnownEntries';

/** Maximum number of entries that one transaction compares. */
const ENTRIES_PER_APPEND = 2000;

/** Minimum interval between attempts to acquire or renew the lease. */
const LEASE_INTERVAL_MS = 5000;

/** Duration of the lease while the replica follows by full syncs. */
const FULL_SYNC_LEASE_MS = 3 * 60_000;

/**
 * Time in which another process that follows the same server reaches its
 * position. A server that was restored from a backup does not.
 */
const LAG_MS = 30_000;

const PRUNE_INTERVAL_MS = 60 * 60_000;

/** Options of {@link ChangeWriter}. */
interface ChangeWriterOptions {
  readonly log: ChangeLog;
  readonly tables: ReplicaTables;
  readonly compare: ComparePositions;
  /** See {@link KnownEntries}. */
  readonly publicValues: (served: Served) => unknown;
  /** Milliseconds for which changes are retained. */
  readonly retentionMs: number;
  /** Milliseconds to wait for another server. Default: ten minutes. */
  readonly catchUpMs?: number;
  readonly logger: LoggerService;
}

/** The right to write, with the recorded entries. */
interface Tenure extends Lease {
  readonly entries: KnownEntries;
  /** Since when the server may lag behind the position. */
  behindSince: number | undefined;
  /**
   * Additions that the server may lack; read once while it may lag behind.
   * Only differences that remove or deny something are recorded then, unless
   * they revert such an addition.
   */
  recent: ReadonlySet<string> | undefined;
}

/**
 * Writes the changes in the replica to the log, in one process of the portal.
 * The replica never waits for it, and reads do not depend on it.
 *
 * The process that acquires the lease compares all entries with the recorded
 * ones, so that changes made while the portal was not running are logged. If
 * its server may lag behind the last write, it records only differences that
 * remove or deny something, unless they revert recent changes.
 */
export class ChangeWriter implements TableObserver {
  readonly #options: ChangeWriterOptions;
  readonly #appended = metrics
    .getMeter('directory')
    .createCounter('directory.changes.appended', {
      description: 'Changes appended to the change log, by kind',
    });
  /** The last sync, unless the tables were written since. */
  #confirmed: CurrentPosition | undefined;
  /** Called at the next sync, and when the writer is stopped. */
  #onSync: () => void = () => {};
  #position: Position | undefined;
  #tenure: Tenure | undefined;
  #renewal: Promise<void> | undefined;
  /** Duration of the lease, until after the next sync. */
  #leaseMs = LEASE_MS;
  /** Earliest time of the next attempt to acquire or renew the lease. */
  #leaseDueAt = -Infinity;
  #pruneDueAt = -Infinity;
  #running: Promise<void> | undefined;
  #hasFailed = false;
  #isStopped = false;

  constructor(options: ChangeWriterOptions) {
    this.#options = options;
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.changes.writing', {
        description: '1 in the process that writes the change log, 0 in others',
      })
      .addCallback(result => result.observe(this.#tenure ? 1 : 0));
  }

  /** Position that the tables have reached; `undefined` before the first sync. */
  get position(): Position | undefined {
    return this.#position;
  }

  onWrite(changed: WrittenEntries): void {
    this.#confirmed = undefined;
    // All entries are compared when a tenure begins.
    this.#tenure?.entries.recordWritten(changed.ids);
  }

  onConfirmed(confirmed: CurrentPosition): void {
    const { server, value, requestedAt } = confirmed;
    this.#confirmed = confirmed;
    const time = Math.round(performance.timeOrigin + requestedAt);
    this.#position =
      value === undefined
        ? // Times and positions of one server cannot be compared.
          { server: `${server} (time)`, value: String(time) }
        : { server, value };
    this.#leaseMs = value === undefined ? FULL_SYNC_LEASE_MS : LEASE_MS;
    this.#onSync();
    if (this.#isStopped) {
      return;
    }
    if (this.#tenure && performance.now() >= this.#leaseDueAt) {
      this.#renewal = this.#renew(this.#tenure);
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#running;
    await this.#renewal;
  }

  /** Ends the tenure after a running append. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#onSync();
    await this.idle();
    const tenure = this.#tenure;
    this.#tenure = undefined;
    if (tenure) {
      await this.#options.log.release(tenure).catch(() => {});
    }
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    try {
      if (!this.#tenure && performance.now() >= this.#leaseDueAt) {
        await this.#acquire();
      }
      if (this.#tenure) {
        await this.#recordAll(this.#tenure);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the tenure: it is not known whether the last append was committed. */
  #fail(error: unknown): void {
    const { logger } = this.#options;
    this.#tenure = undefined;
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    if (error instanceof TenureEndedError) {
      logger.info(error.message);
    } else if (!this.#hasFailed) {
      this.#hasFailed = true;
      logger.warn(`The change log cannot be written: ${error}`);
    }
  }

  /** Never rejects. */
  async #renew(tenure: Tenure): Promise<void> {
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    try {
      await this.#options.log.renew(tenure, this.#leaseMs);
    } catch (error) {
      if (this.#tenure === tenure) {
        this.#fail(error);
      }
    }
  }

  async #acquire(): Promise<void> {
    const { log, tables, publicValues } = this.#options;
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    const lease = await log.acquire(this.#leaseMs);
    if (!lease) {
      return;
    }
    const entries = new KnownEntries({ tables, publicValues });
    this.#tenure = {
      ...lease,
      entries,
      behindSince: undefined,
      recent: undefined,
    };
    await entries.load(log);
  }

  /** Appends until the tables are recorded, or are being written. */
  async #recordAll(tenure: Tenure): Promise<void> {
    const { log, logger, retentionMs } = this.#options;
    while (this.#confirmed && !this.#isStopped) {
      const { server } = this.#position!;
      if (this.#mayLag(tenure)) {
        tenure.recent ??= await log.recentAdditions();
      } else if (tenure.recent) {
        tenure.recent = undefined;
        await tenure.entries.requestAll();
        continue;
      }
      const ids = await tenure.entries.takeWritten(ENTRIES_PER_APPEND);
      if (ids.length === 0) {
        break;
      }
      await this.#record(tenure, ids, server);
    }
    if (this.#confirmed && !tenure.isComplete) {
      tenure.isComplete = true;
      await this.#record(tenure, [], this.#position!.server);
    }
    if (this.#hasFailed) {
      this.#hasFailed = false;
      logger.info('The change log can be written again');
    }
    if (performance.now() >= this.#pruneDueAt) {
      this.#pruneDueAt = performance.now() + PRUNE_INTERVAL_MS;
      await log.prune(tenure, retentionMs);
    }
  }

  /** Whether the server may lag behind the last write of all differences. */
  #mayLag(tenure: Tenure): boolean {
    const { compare, catchUpMs = CATCH_UP_MS } = this.#options;
    const { position } = tenure;
    const order = position ? compare(position, this.#position!) : 'same';
    if (order === 'same' || order === 'later') {
      tenure.behindSince = undefined;
      return false;
    }
    tenure.behindSince ??= performance.now();
    const limitMs = order === 'earlier' ? LAG_MS : catchUpMs;
    return performance.now() - tenure.behindSince < limitMs;
  }

  /**
   * Compares entries and appends the differences.
   *
   * @param server - identifies the server whose differences may be recorded
   */
  async #record(
    tenure: Tenure,
    ids: readonly string[],
    server: string,
  ): Promise<void> {
    const { entries, isComplete, recent } = tenure;
    const batch = await entries.compare(ids, recent);
    const rows = [batch.entries, batch.deleted, batch.added, batch.removed];
    if (ids.length > 0 && rows.every(list => list.length === 0)) {
      return;
    }
    // Writes during the comparison may be part of it.
    while (!this.#confirmed && !this.#isStopped) {
      await new Promise<void>(resolve => {
        this.#onSync = resolve;
      });
    }
    if (this.#isStopped) {
      return;
    }
    const position = this.#position!;
    if (position.server !== server) {
      throw new TenureEndedError(
        'The change log compares all entries after a switch to another server',
      );
    }
    await this.#options.log.append(tenure, batch, {
      position,
      isStrict: recent !== undefined,
      isComplete,
    });
    if (!recent) {
      tenure.position = position;
    }
    for (const { kind } of isComplete ? batch.changes : []) {
      this.#appended.add(1, { kind });
    }
  }
}
