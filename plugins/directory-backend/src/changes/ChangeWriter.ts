import type { LoggerService } from '@backstage/backend-plugin-api';
import type { EventsService } from '@backstage/plugin-events-node';
import { metrics } from '@opentelemetry/api';
import type { TableObserver } from '../replica/sync/DirectorySync';
import type { CurrentPosition as ConfirmedSync } from '../replica/sync/ReplicaSource';
import {
  PositionGate,
  positionOf,
  type RecordedPosition,
} from '../replica/sync/PositionGate';
import {
  type ChangeBatch,
  type ChangeLog,
  LEASE_MS,
  type Lease,
  LeaseLostError,
  type NewChange,
} from './ChangeLog';
import {
  RecordedEntries,
  type RecordedEntriesOptions,
} from './RecordedEntries';

/** Entries that are compared before yielding to the event loop. */
const ENTRIES_PER_APPEND = 500;

/** Interval of attempts to acquire or renew the lease. */
const LEASE_INTERVAL_MS = 5000;

const PRUNE_INTERVAL_MS = 60 * 60_000;

/** Time after which the names of deleted users are replaced. */
const PSEUDONYM_MS = 30 * 24 * 60 * 60_000;

/** Topic of Backstage's events. */
const TOPIC = 'directory.changes';

const NO_CHANGES: ChangeBatch = {
  changes: [],
  entries: [],
  deleted: [],
  added: [],
  removed: [],
};

/** Options of {@link ChangeWriter}. */
export interface ChangeWriterOptions extends Omit<
  RecordedEntriesOptions,
  'lastEntryId'
> {
  readonly log: ChangeLog;
  /** Milliseconds for which changes are retained. */
  readonly retentionMs: number;
  readonly events: Pick<EventsService, 'publish'>;
  readonly logger: LoggerService;
}

/** The right to write, with the recorded entries. */
interface Tenure {
  readonly lease: Lease;
  readonly entries: RecordedEntries;
  isComplete: boolean;
  /** Whether all entries were compared since it began. */
  hasCompared: boolean;
  position: RecordedPosition | undefined;
}

/**
 * Writes the changes in the replica to the log, in one process of the portal.
 * The replica never waits for it, and reads do not depend on it.
 *
 * The process that acquires the lease compares all entries with the recorded
 * ones, so that changes made while the portal was not running are logged.
 */
export class ChangeWriter implements TableObserver {
  readonly #options: ChangeWriterOptions;
  readonly #appended = metrics
    .getMeter('directory')
    .createCounter('directory.changes.appended', {
      description: 'Changes appended to the change log, by kind',
    });
  /** Keys of entries to compare, with the time of their last write. */
  readonly #written = new Map<string, number>();
  /** Keys of renamed entries that the tables contain under both names. */
  readonly #postponed = new Set<string>();
  /** The last sync, unless the tables were written since. */
  #confirmed: ConfirmedSync | undefined;
  #tenure: Tenure | undefined;
  readonly #gate: PositionGate;
  /** The server that has all recorded changes. */
  #reachedServer: string | undefined;
  #leaseDueAt = -Infinity;
  /** When the lease of another process expires, if there was one. */
  #otherExpiresAt: number | undefined;
  /** Time until which another process is known to write. */
  #otherWritesUntil = -Infinity;
  #pruneDueAt = -Infinity;
  #running: Promise<void> | undefined;
  #hasFailed = false;
  #isStopped = false;

  constructor(options: ChangeWriterOptions) {
    this.#options = options;
    this.#gate = new PositionGate({
      logger: options.logger,
      subject: 'The change log',
    });
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.changes.writing', {
        description: '1 in the process that writes the change log, 0 in others',
      })
      .addCallback(result => result.observe(this.#tenure ? 1 : 0));
  }

  /**
   * Whether changes are being logged, by this process or another one.
   * Otherwise, for example after a crash until the lease expires, an entry may
   * be read and deleted without a change in the log.
   */
  get isLogging(): boolean {
    return (
      this.#tenure?.hasCompared === true ||
      performance.now() < this.#otherWritesUntil
    );
  }

  onWrite(keys: readonly string[] | undefined): void {
    const now = performance.now();
    this.#confirmed = undefined;
    // All entries are compared when a tenure begins.
    if (this.#tenure) {
      for (const key of keys ?? this.#tenure.entries.keys()) {
        this.#written.set(key, now);
      }
    }
  }

  onConfirmed(sync: ConfirmedSync): void {
    this.#confirmed = sync;
    if (!this.#running && !this.#isStopped) {
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
      });
    }
  }

  /** Resolves when nothing is being appended. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Acquires or renews the lease after the next sync. */
  retry(): void {
    this.#leaseDueAt = -Infinity;
  }

  /** Ends the tenure after a running append. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    const { lease } = this.#tenure ?? {};
    this.#tenure = undefined;
    if (lease) {
      await this.#options.log.release(lease).catch(() => {});
    }
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { logger } = this.#options;
    try {
      if (performance.now() >= this.#leaseDueAt) {
        await this.#renewLease();
      }
      if (this.#tenure) {
        await this.#appendAll(this.#tenure);
      }
    } catch (error) {
      // It is not known whether the last append was committed.
      this.#tenure = undefined;
      this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
      if (error instanceof LeaseLostError) {
        logger.info('Another process is writing the change log now');
      } else if (!this.#hasFailed) {
        this.#hasFailed = true;
        logger.warn(`The change log cannot be written: ${error}`);
      }
    }
  }

  async #renewLease(): Promise<void> {
    const { log } = this.#options;
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    if (this.#tenure) {
      await log.renew(this.#tenure.lease);
      return;
    }
    const { lease, expiresAt } = await log.acquire();
    if (lease) {
      this.#tenure = await this.#begin(lease);
    } else if (this.#otherExpiresAt === undefined) {
      // The process that holds it may have crashed.
      this.#otherExpiresAt = expiresAt;
    } else if (this.#otherExpiresAt !== expiresAt) {
      this.#otherExpiresAt = expiresAt;
      this.#otherWritesUntil = performance.now() + LEASE_MS;
    }
  }

  /** Loads the recorded entries. */
  async #begin(lease: Lease): Promise<Tenure> {
    const { log } = this.#options;
    const { state, lastEntryId } = lease;
    const entries = new RecordedEntries({ ...this.#options, lastEntryId });
    for await (const page of log.entries()) {
      page.forEach(entry => entries.load(entry));
    }
    this.#written.clear();
    const now = performance.now();
    for (const key of entries.keys()) {
      this.#written.set(key, now);
    }
    this.#reachedServer = undefined;
    return {
      lease,
      entries,
      isComplete: state?.isComplete ?? false,
      hasCompared: false,
      position: state && JSON.parse(state.position),
    };
  }

  /**
   * Appends until the tables are recorded, or are written again. The first
   * comparison runs in the same turn of the event loop as the sync, unless the
   * lease is due.
   */
  async #appendAll(tenure: Tenure): Promise<void> {
    for (const key of this.#postponed) {
      this.#written.set(key, performance.now());
    }
    this.#postponed.clear();
    while (this.#confirmed && !this.#isStopped) {
      const sync = this.#confirmed;
      if (!this.#hasReached(tenure, sync)) {
        return;
      }
      const keys = this.#takeKeys(tenure, sync);
      if (keys.length === 0) {
        break;
      }
      const { batch, postponed } = tenure.entries.compare(keys);
      postponed.forEach(key => this.#postponed.add(key));
      await this.#append(tenure, { batch, sync });
    }
    if (this.#confirmed && !tenure.isComplete) {
      tenure.isComplete = true;
      await this.#append(tenure, { batch: NO_CHANGES, sync: this.#confirmed });
    }
    tenure.hasCompared ||= this.#confirmed !== undefined;
    if (this.#hasFailed) {
      this.#hasFailed = false;
      this.#options.logger.info('The change log can be written again');
    }
    await this.#pruneIfDue(tenure);
  }

  /**
   * Takes keys to compare. Entries that are missing from the tables come last.
   * Entries deleted after the sync was requested are not taken: their new keys
   * may not have been read yet.
   */
  #takeKeys({ entries }: Tenure, sync: ConfirmedSync): readonly string[] {
    const present: string[] = [];
    const missing: string[] = [];
    for (const [key, writtenAt] of this.#written) {
      if (present.length === ENTRIES_PER_APPEND) {
        break;
      }
      if (entries.isPresent(key)) {
        present.push(key);
      } else if (writtenAt < sync.requestedAt) {
        missing.push(key);
      }
    }
    const keys =
      present.length > 0 ? present : missing.slice(0, ENTRIES_PER_APPEND);
    keys.forEach(key => this.#written.delete(key));
    return keys;
  }

  async #append(
    tenure: Tenure,
    options: { readonly batch: ChangeBatch; readonly sync: ConfirmedSync },
  ): Promise<void> {
    const { log, events, logger } = this.#options;
    const { lease, entries, isComplete } = tenure;
    const { sync } = options;
    const batch = isComplete
      ? options.batch
      : { ...options.batch, changes: [] };
    const isEmpty =
      batch.entries.length +
        batch.deleted.length +
        batch.added.length +
        batch.removed.length ===
      0;
    if (isEmpty && options.batch !== NO_CHANGES) {
      return;
    }
    tenure.position = positionOf(sync);
    await log.append(lease, batch, {
      position: JSON.stringify(tenure.position),
      isComplete,
      lastEntryId: entries.lastEntryId,
    });
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    for (const { kind } of batch.changes) {
      this.#appended.add(1, { kind });
    }
    if (batch.changes.length > 0) {
      events
        .publish({
          topic: TOPIC,
          eventPayload: { changes: batch.changes.map(payloadOf) },
        })
        .catch(error =>
          logger.warn(`Directory changes could not be published: ${error}`),
        );
    }
  }

  /** Whether the server has everything that the log has recorded. */
  #hasReached({ position }: Tenure, sync: ConfirmedSync): boolean {
    if (this.#reachedServer !== sync.server) {
      if (!this.#gate.hasReached(position, sync)) {
        return false;
      }
      this.#reachedServer = sync.server;
    }
    return true;
  }

  async #pruneIfDue({ lease }: Tenure): Promise<void> {
    if (performance.now() >= this.#pruneDueAt) {
      this.#pruneDueAt = performance.now() + PRUNE_INTERVAL_MS;
      const now = Date.now();
      await this.#options.log.prune(lease, {
        before: new Date(now - this.#options.retentionMs),
        deletedBefore: new Date(now - PSEUDONYM_MS),
      });
    }
  }
}

/** Payload of a change for subscribers of the topic. */
function payloadOf({ kind, entry, member, oldName, fields }: NewChange) {
  return {
    kind,
    name: entry.name,
    memberName: member?.name,
    oldName,
    fields,
  };
}
