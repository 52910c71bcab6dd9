import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import type {
  ConfirmedSync,
  TableObserver,
} from '../replica/sync/DirectorySync';
import { type ChangeStore, type Lease, LeaseLostError } from './ChangeStore';
import {
  type ChangeBatch,
  KnownEntries,
  type KnownEntriesOptions,
} from './KnownEntries';
import type { ComparePositions, Position } from './Position';
import { WorkSlices } from './WorkSlices';

/** Maximum number of entries that one transaction compares. */
const ENTRIES_PER_APPEND = 2000;

/** Interval of attempts to acquire or renew the lease. */
const LEASE_INTERVAL_MS = 5000;

/** Time in which a server is expected to catch up with another one. */
const CATCH_UP_MS = 10 * 60_000;

const PRUNE_INTERVAL_MS = 60 * 60_000;

/** Time after which the events of deleted users are deleted. */
const DELETED_USERS_MS = 30 * 24 * 60 * 60_000;

/** Options of {@link ChangeWriter}. */
export interface ChangeWriterOptions extends KnownEntriesOptions {
  readonly store: ChangeStore;
  readonly positionOf: (sync: ConfirmedSync) => Position;
  readonly compare: ComparePositions;
  /** Milliseconds for which changes are retained. */
  readonly retentionMs: number;
  /** Milliseconds to wait for a server that may lag. Default: ten minutes. */
  readonly catchUpMs?: number;
  readonly logger: LoggerService;
}

/** The right to write, with the recorded entries. */
interface Tenure {
  readonly lease: Lease;
  readonly entries: KnownEntries;
  isComplete: boolean;
  /** Position of the last write without postponed differences. */
  position: Position | undefined;
  /** Keys of entries with postponed differences. */
  readonly postponed: Set<string>;
  /** Since when the server may lag behind the position. */
  behindSince: number | undefined;
}

/**
 * Writes the changes in the replica to the log, in one process of the portal.
 * The replica never waits for it, and reads do not depend on it.
 *
 * The process that acquires the lease compares all entries with the recorded
 * ones, so that changes made while the portal was not running are logged. If
 * its server may lag behind the last write, it postpones differences that add
 * or allow something, so that no removal is reverted.
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
  /** The last sync, unless the tables were written since. */
  #confirmed: ConfirmedSync | undefined;
  /** Called at the next sync, and when the writer is stopped. */
  #onSync: () => void = () => {};
  #position: Position | undefined;
  #tenure: Tenure | undefined;
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
    this.#position = this.#options.positionOf(sync);
    this.#onSync();
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

  /** Ends the tenure after a running append. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#onSync();
    await this.#running;
    const { lease } = this.#tenure ?? {};
    this.#tenure = undefined;
    if (lease) {
      await this.#options.store.release(lease).catch(() => {});
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
        await this.#recordAll(this.#tenure);
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
    const { store } = this.#options;
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    if (this.#tenure) {
      await store.renew(this.#tenure.lease);
      return;
    }
    const lease = await store.acquire();
    if (!lease) {
      return;
    }
    const entries = await KnownEntries.load(store, this.#options);
    this.#tenure = {
      lease,
      entries,
      isComplete: lease.isComplete,
      position: lease.position,
      postponed: new Set(),
      behindSince: undefined,
    };
    this.#written.clear();
    const now = performance.now();
    const slices = new WorkSlices();
    for (const key of entries.keys()) {
      await slices.next();
      this.#written.set(key, now);
    }
  }

  /** Appends until the tables are recorded, or are being written. */
  async #recordAll(tenure: Tenure): Promise<void> {
    while (this.#confirmed && !this.#isStopped) {
      const sync = this.#confirmed;
      const mode = this.#modeFor(tenure);
      if (mode === 'wait') {
        return;
      }
      if (mode === 'complete') {
        tenure.postponed.forEach(key => this.#written.set(key, -Infinity));
        tenure.postponed.clear();
      }
      const keys = this.#takeKeys(tenure, sync);
      if (keys.length === 0) {
        break;
      }
      await this.#record(tenure, { keys, isStrict: mode === 'strict' });
    }
    if (this.#confirmed && !tenure.isComplete) {
      tenure.isComplete = true;
      await this.#record(tenure, { keys: [], isStrict: false });
    }
    if (this.#hasFailed) {
      this.#hasFailed = false;
      this.#options.logger.info('The change log can be written again');
    }
    await this.#pruneIfDue(tenure);
  }

  /**
   * Returns which differences may be recorded: all; none, until the server has
   * reached its own earlier position; or only those that remove or deny.
   */
  #modeFor(tenure: Tenure): 'complete' | 'wait' | 'strict' {
    const { compare, catchUpMs = CATCH_UP_MS } = this.#options;
    const { position } = tenure;
    const standing = position ? compare(position, this.#position!) : 'same';
    if (standing === 'same' || standing === 'later') {
      tenure.behindSince = undefined;
      return 'complete';
    }
    const now = performance.now();
    tenure.behindSince ??= now;
    if (now - tenure.behindSince >= catchUpMs) {
      return 'complete';
    }
    return standing === 'other' ? 'strict' : 'wait';
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
    const keys = [...present, ...missing].slice(0, ENTRIES_PER_APPEND);
    keys.forEach(key => this.#written.delete(key));
    return keys;
  }

  /** Compares entries and appends the differences. */
  async #record(
    tenure: Tenure,
    options: { readonly keys: readonly string[]; readonly isStrict: boolean },
  ): Promise<void> {
    const { store } = this.#options;
    const { lease, entries, isComplete } = tenure;
    const { keys, isStrict } = options;
    const { server } = this.#position!;
    const batch = await entries.compare(keys, { isStrict });
    batch.postponed.forEach(key => tenure.postponed.add(key));
    if (isEmpty(batch) && keys.length > 0) {
      return;
    }
    // Writes during the comparison may be part of it.
    while (!this.#confirmed && !this.#isStopped) {
      await new Promise<void>(resolve => {
        this.#onSync = resolve;
      });
    }
    const position = this.#position!;
    if (this.#isStopped) {
      return;
    }
    if (position.server !== server) {
      throw new Error('The replica has switched to another server');
    }
    await store.append(lease, batch, { position, isStrict, isComplete });
    if (!isStrict) {
      tenure.position = position;
    }
    this.#leaseDueAt = performance.now() + LEASE_INTERVAL_MS;
    for (const { kind } of isComplete ? batch.events : []) {
      this.#appended.add(1, { kind });
    }
  }

  async #pruneIfDue({ lease }: Tenure): Promise<void> {
    if (performance.now() >= this.#pruneDueAt) {
      this.#pruneDueAt = performance.now() + PRUNE_INTERVAL_MS;
      const { store, retentionMs } = this.#options;
      await store.prune(lease, {
        retentionMs,
        deletedUsersMs: DELETED_USERS_MS,
      });
    }
  }
}

function isEmpty({ entries, deleted, added, removed }: ChangeBatch): boolean {
  return entries.length + deleted.length + added.length + removed.length === 0;
}
