import { metrics } from '@opentelemetry/api';
import type { ReplicaTables } from '../tables/ReplicaTables';
import { ConsistencyCheck } from './ConsistencyCheck';
import { HeldValues } from './HeldValues';
import { IncrementalSync } from './IncrementalSync';
import type { EntryCounts, MassDeletionGuard } from './MassDeletionGuard';
import {
  expectServer,
  type ReplicaKeys,
  type ReplicaPosition,
  type ReplicaSource,
  type ReplicationState,
} from './ReplicaSource';
import { SyncMode, type SyncModeOptions } from './SyncMode';
import { TableComparison } from './TableComparison';
import { TableWriter } from './TableWriter';
import { UnreportedDeletions } from './UnreportedDeletions';

/** Pause after a full sync, as a multiple of its duration. */
const PAUSE_PER_SYNC = 1;

const CHECK_INTERVAL_MS = 60 * 60_000;

/** Interval of attempts to subscribe after the server refused to notify. */
const SUBSCRIBE_AGAIN_MS = 600_000;

/** A sync after which the tables match the directory. */
export interface ConfirmedSync {
  /** URL of the server. */
  readonly server: string;
  /** The server's last USN; `undefined` without USNs. */
  readonly usn: number | undefined;
  /** Time of the request for the position, from `performance.now()`. */
  readonly requestedAt: number;
  /** The server's replication state, if known. */
  readonly replicated: ReplicationState | undefined;
}

/** Observes writes to the tables. */
export interface TableObserver {
  /**
   * Called when entries may have changed; `undefined` stands for all entries.
   */
  onWrite(keys: readonly string[] | undefined): void;
  /** Called in the same turn in which the sync is confirmed. */
  onConfirmed(sync: ConfirmedSync): void;
}

/** Options of {@link DirectorySync}. */
export interface DirectorySyncOptions extends SyncModeOptions {
  readonly source: ReplicaSource;
  readonly tables: ReplicaTables;
  readonly guard: MassDeletionGuard;
  /** Aborted when the replica is stopped. */
  readonly stopped: AbortSignal;
  readonly observer: TableObserver;
  /** Suspends reads if the error requires it. */
  readonly suspendFor: (error: unknown) => void;
  /** Milliseconds between comparisons of all entries. Default: one hour. */
  readonly checkIntervalMs?: number;
  /**
   * Milliseconds between the read and the corrections of a comparison of all
   * entries. Default: three seconds.
   */
  readonly settlingMs?: number;
}

/**
 * Keeps the tables in sync with one server of the directory: changes are found
 * by their USNs, deletions by notification, and everything else by full syncs.
 */
export class DirectorySync {
  readonly held: HeldValues;
  readonly mode: SyncMode;
  readonly #options: DirectorySyncOptions;
  readonly #writer: TableWriter;
  readonly #comparison: TableComparison;
  readonly #check: ConsistencyCheck;
  readonly #deletions: UnreportedDeletions;
  readonly #changes: IncrementalSync;
  readonly #duration = metrics
    .getMeter('directory')
    .createHistogram('directory.replica.sync.duration', {
      description: 'Duration of full syncs',
      unit: 's',
    });
  /** Position of the tables; `undefined` requires a full sync into them. */
  #position: ReplicaPosition | undefined;
  /** Ends the subscription to the server at the position. */
  #unsubscribe: (() => void) | undefined;
  #subscribeAgainAt = Infinity;
  /** Whether a full sync is required because the tables match no server. */
  #mustSync = false;
  /** Keys of entries that were deleted during the current full sync. */
  #deleted: Set<string> | undefined;
  /** Earliest start of the next full sync. */
  #resyncNotBefore = -Infinity;

  constructor(options: DirectorySyncOptions) {
    const { tables, checkIntervalMs: intervalMs = CHECK_INTERVAL_MS } = options;
    this.#options = options;
    this.held = new HeldValues(options);
    this.mode = new SyncMode(options);
    this.#writer = new TableWriter({
      tables,
      restrict: batch => this.held.restrict(batch),
      onWrite: keys => {
        this.held.recordWrite();
        options.observer.onWrite(keys);
        this.#checkTables();
      },
    });
    this.#changes = new IncrementalSync({ ...options, writer: this.#writer });
    this.#comparison = new TableComparison({
      ...options,
      writer: this.#writer,
      guard: keys => this.#checkDeletions(keys),
    });
    const services = { ...options, comparison: this.#comparison };
    this.#check = new ConsistencyCheck({ ...services, intervalMs });
    this.#deletions = new UnreportedDeletions({
      ...services,
      onEntriesMissing: () => this.#check.request(),
    });
  }

  /**
   * URL of the server that the tables match; `undefined` before the first sync.
   */
  get server(): string | undefined {
    return this.#position?.server;
  }

  /** Syncs once. Resolves to whether the tables match the directory. */
  async poll(): Promise<boolean> {
    const { source, state, observer } = this.#options;
    const { suspensions } = state;
    const position = await source.readPosition();
    const isSynced = await this.#sync(position);
    await this.#check.repeatFailed(position.server);
    if (isSynced && (await this.held.update(position))) {
      this.#mustSync = true;
    }
    if (suspensions !== state.suspensions) {
      // Only a sync that starts after the suspension ends it.
      this.disconnect();
      return false;
    }
    if (isSynced) {
      this.#position = position;
      state.confirm(position.requestedAt);
      observer.onConfirmed({
        ...position,
        replicated: this.held.replicated,
      });
      this.#check.startIfDue(position.server);
      if (position.usn !== undefined) {
        if (this.#subscribeAgainAt === Infinity) {
          this.mode.change('notifications');
        }
        this.#deletions.startIfDue(position);
      }
    }
    return isSynced;
  }

  /**
   * Ends the subscription. Changes may be missed until the next sync, but the
   * tables are still read.
   */
  disconnect(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#comparison.cancel();
  }

  /** Resolves to whether the tables match the directory at a position. */
  async #sync(position: ReplicaPosition): Promise<boolean> {
    const isFollowed =
      this.#position?.epoch === position.epoch && !this.#mustSync;
    if (position.usn !== undefined) {
      return isFollowed
        ? await this.#syncChanges(position)
        : await this.#syncFully(position);
    }
    this.mode.change('full');
    return !isFollowed || this.mode.isSyncDue
      ? await this.#syncFully(position)
      : false;
  }

  /** Reads all entries, unless the last full sync was too recent. */
  async #syncFully(position: ReplicaPosition): Promise<boolean> {
    const startedAt = performance.now();
    if (startedAt < this.#resyncNotBefore) {
      return false;
    }
    this.disconnect();
    this.#changes.reset();
    this.#deleted = new Set();
    let outcome = 'failure';
    try {
      await this.#prepareGuard();
      if (position.usn !== undefined) {
        await this.#subscribe(position.server);
      }
      await (this.#position
        ? this.#resync(position)
        : this.#syncFirst(position, startedAt));
      for (const key of this.#deleted) {
        this.#delete(key);
      }
      this.#deletions.reset(position);
      this.#position = position;
      this.#mustSync = false;
      if (position.usn === undefined) {
        this.mode.scheduleSync(startedAt);
      }
      outcome = 'success';
    } catch (error) {
      this.disconnect();
      throw error;
    } finally {
      this.#deleted = undefined;
      const tookMs = performance.now() - startedAt;
      this.#resyncNotBefore = startedAt + (1 + PAUSE_PER_SYNC) * tookMs;
      this.#duration.record(tookMs / 1000, { outcome });
    }
    return position.usn === undefined || this.#unsubscribe !== undefined;
  }

  /** Writes directly to the tables, which are not read in the meantime. */
  async #syncFirst(
    position: ReplicaPosition,
    startedAt: number,
  ): Promise<void> {
    const { source, tables, logger } = this.#options;
    const keys = await source.readAll(batch =>
      this.#writer.writeInSlices(batch, startedAt),
    );
    expectServer(keys, position);
    await this.#checkDeletions(keys);
    await this.#writer.retainOnly(keys);
    this.#options.observer.onWrite(undefined);
    await tables.users.buildIndexes();
    const { users, groups, agreements } = keys;
    logger.info('First sync finished', {
      users: users.size,
      groups: groups.size,
      agreements: agreements.size,
      seconds: secondsSince(startedAt),
    });
  }

  /** Writes only the differences, at the end: the tables are read meanwhile. */
  async #resync(position: ReplicaPosition): Promise<void> {
    const { source, tables, state, logger } = this.#options;
    const startedAt = performance.now();
    const hold =
      this.#position?.epoch === position.epoch
        ? undefined
        : await this.held.prepare(position, state.ageMs);
    const differences = await this.#comparison.run({
      server: position.server,
      read: check => source.readAll(batch => check.compare(batch)),
      prepare: async check => {
        await hold?.(check);
        // The tables match no server until all differences are corrected.
        this.#mustSync = true;
      },
      isSync: true,
    });
    if (!differences) {
      throw new Error('The full sync was canceled');
    }
    await tables.users.buildIndexes();
    logger.info(`Replica was synced with ${position.server}`, {
      ...Object.fromEntries(differences),
      seconds: secondsSince(startedAt),
    });
  }

  async #syncChanges(position: ReplicaPosition): Promise<boolean> {
    const last = this.#position!;
    if (performance.now() >= this.#subscribeAgainAt) {
      this.disconnect();
    }
    if (!this.#unsubscribe) {
      await this.#catchUp(position);
    } else if (last.usn !== position.usn || last.usn !== last.committedUsn) {
      await this.#readChanges(position);
    }
    return this.#unsubscribe !== undefined;
  }

  /** Finds changes that were not notified. */
  async #catchUp(position: ReplicaPosition): Promise<void> {
    try {
      await this.#subscribe(position.server);
      await this.#readChanges(position);
      const compared = await this.#comparison.run({
        server: position.server,
        read: () => this.#options.source.readKeys(),
        isSync: true,
      });
      if (!compared) {
        throw new Error('The comparison of keys was canceled');
      }
      this.#deletions.reset(position);
    } catch (error) {
      this.disconnect();
      throw error;
    }
  }

  async #readChanges(position: ReplicaPosition): Promise<void> {
    const { committedUsn = 0 } = this.#position!;
    const { hasNewKeys } = await this.#changes.apply(
      position,
      committedUsn + 1,
    );
    if (hasNewKeys && this.mode.current === 'usn') {
      // The new key of a renamed entry carries its USN, so a comparison must
      // find the old key.
      this.#deletions.request(position);
    }
  }

  async #subscribe(server: string): Promise<void> {
    const { source, stopped, logger } = this.#options;
    this.#subscribeAgainAt = Infinity;
    this.#unsubscribe = await source.subscribe(server, {
      onDeleted: key => this.#deleted?.add(key) ?? this.#delete(key),
      onLost: error => {
        this.disconnect();
        logger.warn(
          `Replica lost the change notifications of ${server}: ${error.message}`,
        );
      },
      onUnsupported: error => {
        this.mode.change('usn', error.message);
        this.#subscribeAgainAt = performance.now() + SUBSCRIBE_AGAIN_MS;
      },
    });
    if (stopped.aborted) {
      this.disconnect();
    }
  }

  /** Deletes an entry that the server reported as deleted. */
  #delete(key: string): void {
    this.#writer.delete(key);
    this.#changes.recordDeletion(key);
  }

  get #counts(): EntryCounts {
    const { users, groups } = this.#options.tables;
    return { users: users.served.size, groups: groups.size };
  }

  /** Rejects before a full sync that the mass-deletion guard would reject. */
  async #prepareGuard(): Promise<void> {
    const { guard, source } = this.#options;
    await guard.prepare();
    if (guard.quarantine) {
      await this.#checkDeletions(await source.readKeys());
    }
  }

  /** Suspends reads in the same turn in which too many entries are deleted. */
  #checkTables(): void {
    const { guard, suspendFor } = this.#options;
    try {
      guard.checkReplica(this.#counts);
    } catch (error) {
      suspendFor(error);
    }
  }

  /** Suspends reads when the mass-deletion guard rejects the keys. */
  async #checkDeletions({ users, groups }: ReplicaKeys): Promise<void> {
    const { guard, suspendFor } = this.#options;
    const found = { users: users.size, groups: groups.size };
    try {
      await guard.check(found, this.#counts);
    } catch (error) {
      suspendFor(error);
      this.#position = undefined;
      throw error;
    }
  }
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
