import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import { TableComparison } from './sync/TableComparison';
import { HeldValues } from './sync/HeldValues';
import type { EntryCounts, MassDeletionGuard } from './sync/MassDeletionGuard';
import { IncrementalSync } from './sync/IncrementalSync';
import {
  ReplicaGate,
  ReplicaState,
  suspensionFor,
  type ReplicaStatus,
  type SuspensionReason,
} from './sync/ReplicaState';
import { ConsistencyCheck } from './sync/ConsistencyCheck';
import { createTables, type ReplicaTables } from './tables/ReplicaTables';
import { TableWriter } from './sync/TableWriter';
import { UnreportedDeletions } from './sync/UnreportedDeletions';
import {
  expectServer,
  type ReplicaKeys,
  type ReplicaSource,
  type ReplicaPosition,
} from './sync/ReplicaSource';

/** Interval of polls, which is the maximum age of the source's position. */
const POLL_MS = 250;

/** Pause after failures in a row, which doubles from the first to the second. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 1000;

/** The same after the mass-deletion guard rejected a full sync. */
const MAX_QUARANTINE_PAUSE_MS = 30_000;

/** Full syncs take at most half of the time, whatever fails. */
const PAUSE_PER_SYNC = 1;

const COMPARISON_INTERVAL_MS = 60 * 60_000;

/** Interval of attempts to subscribe to notifications after a refusal. */
const SUBSCRIBE_AGAIN_MS = 600_000;

/** Minimum interval of full syncs where they are the only way to follow. */
const MIN_SYNC_INTERVAL_MS = 60_000;

/** The same as a multiple of the duration of a full sync. */
const SYNC_INTERVAL_PER_DURATION = 4;

/** How the replica follows the directory. */
export type ReplicaMode =
  /** By USN, and deletions by notification. */
  | 'notifications'
  /** By USN, and deletions by comparing keys. */
  | 'usn'
  /** By full syncs. */
  | 'full';

/** Options of {@link Replica}. */
export interface ReplicaOptions {
  readonly source: ReplicaSource;
  readonly logger: LoggerService;
  /** Age in milliseconds above which the replica is not read. */
  readonly maxStalenessMs: number;
  readonly guard: MassDeletionGuard;
  /** Milliseconds between comparisons of all entries. Default: an hour. */
  readonly checkIntervalMs?: number;
  /** Milliseconds between full syncs in the mode `full`. Default: a minute. */
  readonly syncIntervalMs?: number;
}

/**
 * A replica of the directory's users, groups and agreements. It follows one
 * server: changes by their USNs, deletions by notification. While no server can
 * be followed, it can still be read up to its maximum age; after a change of
 * server, until it has been compared with the new one.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly tables: ReplicaTables = createTables();
  readonly #held: HeldValues;
  readonly #writer: TableWriter;
  readonly #state: ReplicaState;
  /** Admits reads of the tables. */
  readonly gate: ReplicaGate;
  readonly #comparison: TableComparison;
  readonly #rereading: ConsistencyCheck;
  readonly #deletions: UnreportedDeletions;
  readonly #changes: IncrementalSync;
  readonly #stopped = new AbortController();
  readonly #minSyncIntervalMs: number;
  #mode: ReplicaMode | undefined;
  /** Position of the tables; `undefined` requires a full sync into them. */
  #position: ReplicaPosition | undefined;
  /** Ends the subscription to the server at the position. */
  #unsubscribe: (() => void) | undefined;
  #subscribeAgainAt = Infinity;
  /** Whether the tables equal no server until the next full sync. */
  #mustSync = false;
  /** Keys of entries that are deleted during a full sync. */
  #deleted: Set<string> | undefined;
  /** No full sync starts before. */
  #restsUntil = -Infinity;
  /** In the mode `full`: when the next sync starts. */
  #nextSyncAt = -Infinity;
  #isStale = false;
  /** Ends the pause before the next poll. */
  #paused: AbortController | undefined;

  constructor(options: ReplicaOptions) {
    const {
      checkIntervalMs: intervalMs = COMPARISON_INTERVAL_MS,
      syncIntervalMs = MIN_SYNC_INTERVAL_MS,
    } = options;
    this.#options = options;
    this.#minSyncIntervalMs = syncIntervalMs;
    this.#held = new HeldValues({ ...options, tables: this.tables });
    this.#writer = new TableWriter({
      tables: this.tables,
      held: this.#held,
      onWrite: () => {
        this.#held.recordWrite();
        this.#checkReplica();
      },
    });
    this.#state = new ReplicaState(options);
    this.gate = new ReplicaGate(this.#state);
    this.#changes = new IncrementalSync({
      source: options.source,
      tables: this.tables,
      writer: this.#writer,
    });
    this.#comparison = new TableComparison({
      writer: this.#writer,
      guard: keys => this.#checkDeletions(keys),
    });
    const services = { ...options, comparison: this.#comparison };
    this.#rereading = new ConsistencyCheck({ ...services, intervalMs });
    this.#deletions = new UnreportedDeletions(services);
  }

  /** Milliseconds since the replica was last known to equal the directory. */
  get ageMs(): number {
    return this.#state.ageMs;
  }

  /** Whether it may be read now. */
  get isServing(): boolean {
    return this.#state.isServing;
  }

  get status(): ReplicaStatus {
    return this.#state.status;
  }

  /** Number of entries with values that are stricter than the server's. */
  get heldEntries(): number {
    return this.#held.size;
  }

  /** Whether an entry, by its key, may be stricter than the server's. */
  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  /** `undefined` before the first poll. */
  get mode(): ReplicaMode | undefined {
    return this.#mode;
  }

  /** URL of the server that the tables equal, if a sync has finished. */
  get server(): string | undefined {
    return this.#position?.server;
  }

  /**
   * Suspends reads in the same turn, until the tables have been compared with
   * the directory.
   */
  suspend(reason: SuspensionReason, message: string): void {
    if (!this.#stopped.signal.aborted) {
      this.#state.suspend(reason, message);
      this.#disconnect();
    }
  }

  /** Polls now if it pauses, because the next sync may succeed. */
  retry(): void {
    this.#paused?.abort();
  }

  /** Syncs with the directory until {@link stop}. */
  async follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const isCurrent = await this.#poll();
        if (isCurrent && failures > 0) {
          this.#options.logger.info(`Replica follows ${this.server} again`);
        }
        failures = isCurrent ? 0 : failures;
      } catch (error) {
        this.#suspendFor(error);
        if (failures++ === 0 && !signal.aborted) {
          this.#options.logger.warn(
            `Replica cannot follow the directory${
              this.isServing ? ', and is served until it is too old' : ''
            }: ${stringifyError(error)}`,
          );
        }
      }
      this.#reportStale();
      await this.#pause(failures);
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.retry();
    this.#disconnect();
  }

  /** Resolves with whether the tables equal the directory. */
  async #poll(): Promise<boolean> {
    const { suspensions } = this.#state;
    const time = await this.#options.source.readPosition();
    let isCurrent = await this.#sync(time);
    await this.#rereading.repeatFailed(time.server);
    if (isCurrent && (await this.#held.update(time))) {
      this.#mustSync = true;
    }
    if (suspensions !== this.#state.suspensions) {
      // What was read before the suspension does not end it.
      this.#disconnect();
      isCurrent = false;
    }
    if (isCurrent) {
      this.#position = time;
      this.#state.confirm(time.requestedAt);
      this.#rereading.startIfDue(time.server);
      if (time.usn !== undefined) {
        if (this.#subscribeAgainAt === Infinity) {
          this.#setMode('notifications');
        }
        this.#deletions.startIfDue(time);
      }
    }
    return isCurrent;
  }

  /** Resolves with whether the tables equal the directory as of this time. */
  async #sync(time: ReplicaPosition): Promise<boolean> {
    if (time.usn === undefined) {
      this.#setMode('full');
    }
    if (
      !this.#position ||
      this.#position.epoch !== time.epoch ||
      this.#mustSync
    ) {
      return await this.#syncFully(time);
    }
    if (time.usn === undefined) {
      return performance.now() >= this.#nextSyncAt || !this.isServing
        ? await this.#syncFully(time)
        : false;
    }
    return await this.#syncChanges(time);
  }

  /** Reads all entries, unless the last time was too recent. */
  async #syncFully(time: ReplicaPosition): Promise<boolean> {
    const startedAt = performance.now();
    if (startedAt < this.#restsUntil) {
      return false;
    }
    this.#disconnect();
    this.#changes.forget();
    this.#deleted = new Set();
    try {
      await this.#prepareGuard();
      if (time.usn !== undefined) {
        await this.#subscribe(time);
      }
      await (this.#position
        ? this.#resync(time)
        : this.#syncFirst(time, startedAt));
      for (const key of this.#deleted) {
        this.#delete(key);
      }
      this.#deletions.reset(time);
      this.#position = time;
      this.#mustSync = false;
      if (time.usn === undefined) {
        this.#scheduleSync(startedAt);
      }
    } catch (error) {
      this.#disconnect();
      throw error;
    } finally {
      this.#deleted = undefined;
      const now = performance.now();
      this.#restsUntil = now + PAUSE_PER_SYNC * (now - startedAt);
    }
    return time.usn === undefined || this.#unsubscribe !== undefined;
  }

  /** Writes directly into the tables, which are not read meanwhile. */
  async #syncFirst(time: ReplicaPosition, startedAt: number): Promise<void> {
    const keys = await this.#options.source.readAll(portion =>
      this.#writer.writeInSlices(portion, startedAt),
    );
    expectServer(keys, time);
    await this.#checkDeletions(keys);
    await this.#writer.retainOnly(keys);
    await this.tables.users.buildIndexes();
    const { users, groups, agreements } = keys;
    this.#options.logger.info('First sync finished', {
      users: users.size,
      groups: groups.size,
      agreements: agreements.size,
      seconds: secondsSince(startedAt),
    });
  }

  /** Writes only differences, at the end: the tables are read meanwhile. */
  async #resync(time: ReplicaPosition): Promise<void> {
    const startedAt = performance.now();
    const hold =
      this.#position?.epoch === time.epoch
        ? undefined
        : await this.#held.prepare(time, this.ageMs);
    const differences = await this.#comparison.run({
      server: time.server,
      read: check =>
        this.#options.source.readAll(portion => check.look(portion)),
      prepare: async check => {
        await hold?.(check);
        // Until all differences are corrected.
        this.#mustSync = true;
      },
      isSync: true,
    });
    if (!differences) {
      throw new Error('The full sync was canceled');
    }
    await this.tables.users.buildIndexes();
    this.#options.logger.info(`Replica was synced with ${time.server}`, {
      ...Object.fromEntries(differences),
      seconds: secondsSince(startedAt),
    });
  }

  async #syncChanges(time: ReplicaPosition): Promise<boolean> {
    const last = this.#position!;
    if (performance.now() >= this.#subscribeAgainAt) {
      this.#disconnect();
    }
    if (!this.#unsubscribe) {
      await this.#catchUp(time);
    } else if (last.usn !== time.usn || last.usn !== last.committedUsn) {
      await this.#readChanges(time);
    }
    return this.#unsubscribe !== undefined;
  }

  /** Finds what changed without a notification. */
  async #catchUp(time: ReplicaPosition): Promise<void> {
    try {
      await this.#subscribe(time);
      await this.#readChanges(time);
      const compared = await this.#comparison.run({
        server: time.server,
        read: () => this.#options.source.readKeys(),
        isSync: true,
      });
      if (!compared) {
        throw new Error('The comparison of keys was canceled');
      }
      this.#deletions.reset(time);
    } catch (error) {
      this.#disconnect();
      throw error;
    }
  }

  async #readChanges(time: ReplicaPosition): Promise<void> {
    const { committedUsn = 0 } = this.#position!;
    const { hasNewKeys } = await this.#changes.take(time, committedUsn + 1);
    if (hasNewKeys && this.#mode === 'usn') {
      // The new key of a renamed entry has the USN: the old key is not missed.
      this.#deletions.request(time);
    }
  }

  /** Deletes an entry that the server reported as deleted. */
  #delete(key: string): void {
    this.#writer.remove(key);
    this.#changes.recordDeletion(key);
  }

  async #subscribe({ server }: ReplicaPosition): Promise<void> {
    this.#subscribeAgainAt = Infinity;
    const unsubscribe = await this.#options.source.subscribe(server, {
      onDeleted: key => this.#deleted?.add(key) ?? this.#delete(key),
      onLost: error => {
        this.#disconnect();
        this.#options.logger.warn(
          `Replica lost the change notifications of ${server}: ${error.message}`,
        );
      },
      onUnsupported: error => {
        this.#setMode('usn', error.message);
        this.#subscribeAgainAt = performance.now() + SUBSCRIBE_AGAIN_MS;
      },
    });
    this.#unsubscribe = unsubscribe;
    if (this.#stopped.signal.aborted) {
      this.#disconnect();
    }
  }

  /** Until the next sync, changes may be missed. The tables are still read. */
  #disconnect(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#comparison.cancel();
  }

  get #counts(): EntryCounts {
    const { users, groups } = this.tables;
    return { users: users.served.size, groups: groups.size };
  }

  /** Fails before a full sync that the mass-deletion guard would reject. */
  async #prepareGuard(): Promise<void> {
    const { guard, source } = this.#options;
    await guard.prepare();
    if (guard.quarantine) {
      await this.#checkDeletions(await source.readKeys());
    }
  }

  /** Suspends reads in the turn in which too many entries are deleted. */
  #checkReplica(): void {
    const message = this.#options.guard.checkReplica(this.#counts);
    if (message !== undefined) {
      this.suspend('quarantine', message);
    }
  }

  /** The mass-deletion guard: what it rejects suspends reads. */
  async #checkDeletions({ users, groups }: ReplicaKeys): Promise<void> {
    const found = { users: users.size, groups: groups.size };
    try {
      await this.#options.guard.check(found, this.#counts);
    } catch (error) {
      this.#suspendFor(error);
      this.#position = undefined;
      throw error;
    }
  }

  #suspendFor(error: unknown): void {
    const reason = suspensionFor(error);
    if (reason) {
      this.suspend(reason, (error as Error).message);
    }
  }

  #setMode(mode: ReplicaMode, message?: string): void {
    if (mode !== this.#mode) {
      const { logger } = this.#options;
      const before = this.#mode;
      this.#mode = mode;
      if (mode === 'usn') {
        logger.warn(
          `The directory refuses persistent searches (${message}): deletions are found by comparing keys, after up to 20 seconds`,
        );
      } else if (mode === 'full') {
        logger.warn(
          'The directory has no USNs that the service account may search for: the replica is updated by full syncs. Enable the USN plugin, and allow the account to search for entryusn',
        );
      } else if (before) {
        logger.info('The directory sends change notifications again');
      }
      if (mode !== 'full') {
        this.#state.maxStalenessMs = this.#options.maxStalenessMs;
      }
    }
  }

  /** In the mode `full`, the replica may be as old as two intervals. */
  #scheduleSync(startedAt: number): void {
    const tookMs = performance.now() - startedAt;
    const intervalMs = Math.max(
      this.#minSyncIntervalMs,
      SYNC_INTERVAL_PER_DURATION * tookMs,
    );
    this.#nextSyncAt = startedAt + intervalMs;
    this.#state.maxStalenessMs = Math.max(
      this.#options.maxStalenessMs,
      2 * intervalMs + tookMs,
    );
  }

  #reportStale(): void {
    const isStale = this.status.kind === 'stale';
    if (isStale && !this.#isStale) {
      this.#options.logger.error(
        `Replica is older than ${
          this.#state.maxStalenessMs / 1000
        } seconds: queries return 503`,
      );
    }
    this.#isStale = isStale;
  }

  async #pause(failures: number): Promise<void> {
    const { status } = this;
    const isQuarantined =
      status.kind === 'suspended' && status.reason === 'quarantine';
    const maxMs = isQuarantined ? MAX_QUARANTINE_PAUSE_MS : MAX_PAUSE_MS;
    const ms =
      failures === 0
        ? POLL_MS
        : Math.min(MIN_PAUSE_MS * 2 ** (failures - 1), maxMs);
    this.#paused = new AbortController();
    const { signal } = this.#paused;
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
