import type { LoggerService } from '@backstage/backend-plugin-api';
import type { ReplicaState } from './ReplicaState';

/** Minimum interval between full syncs in `full` mode. */
const SYNC_INTERVAL_MS = 60_000;

/** Minimum interval of full syncs as a multiple of their duration. */
const SYNC_INTERVAL_PER_DURATION = 4;

/** How the directory is followed. */
export type ReplicaMode =
  /** Changes by USN, deletions by notification. */
  | 'notifications'
  /** Changes by USN, deletions by comparing keys. */
  | 'usn'
  /** Full syncs only. */
  | 'full';

/** Options of {@link SyncMode}. */
export interface SyncModeOptions {
  readonly state: ReplicaState;
  readonly logger: LoggerService;
  /** Age in milliseconds above which the replica is not read. */
  readonly maxStalenessMs: number;
  /**
   * Milliseconds between full syncs in `full` mode. Default: one minute.
   */
  readonly syncIntervalMs?: number;
}

/** Logs mode changes and schedules full syncs in `full` mode. */
export class SyncMode {
  readonly #options: SyncModeOptions;
  #current: ReplicaMode | undefined;
  #nextSyncAt = -Infinity;

  constructor(options: SyncModeOptions) {
    this.#options = options;
  }

  /** Current mode; `undefined` before the first poll. */
  get current(): ReplicaMode | undefined {
    return this.#current;
  }

  /** Whether a full sync is due in `full` mode. */
  get isSyncDue(): boolean {
    return (
      performance.now() >= this.#nextSyncAt || !this.#options.state.isServing
    );
  }

  /** @param reason - why persistent searches are refused, for the log */
  change(mode: ReplicaMode, reason?: string): void {
    if (mode === this.#current) {
      return;
    }
    const { logger, state, maxStalenessMs } = this.#options;
    if (mode === 'usn') {
      logger.warn(
        `The directory refuses persistent searches (${reason}): deletions are found by comparing keys, after up to 20 seconds`,
      );
    } else if (mode === 'full') {
      logger.warn(
        'The service account cannot search for USNs in the directory: the replica is updated by full syncs. Enable the USN plugin, and allow the account to search for entryusn',
      );
    } else if (this.#current) {
      logger.info('The directory sends change notifications again');
    }
    if (mode !== 'full') {
      state.maxStalenessMs = maxStalenessMs;
    }
    this.#current = mode;
  }

  /**
   * Schedules the next full sync. Allows the replica to be two intervals old.
   */
  scheduleSync(startedAt: number): void {
    const { state, maxStalenessMs, syncIntervalMs } = this.#options;
    const tookMs = performance.now() - startedAt;
    const intervalMs = Math.max(
      syncIntervalMs ?? SYNC_INTERVAL_MS,
      SYNC_INTERVAL_PER_DURATION * tookMs,
    );
    this.#nextSyncAt = startedAt + intervalMs;
    state.maxStalenessMs = Math.max(maxStalenessMs, 2 * intervalMs + tookMs);
  }
}
