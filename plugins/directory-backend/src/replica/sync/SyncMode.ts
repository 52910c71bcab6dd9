import type { LoggerService } from '@backstage/backend-plugin-api';
import type { ReplicaState } from './ReplicaState';

/** Minimum interval of full syncs where they are the only way to follow. */
const SYNC_INTERVAL_MS = 60_000;

/** The same as a multiple of the duration of a full sync. */
const SYNC_INTERVAL_PER_DURATION = 4;

/** How the directory is followed. */
export type ReplicaMode =
  /** By USN, and deletions by notification. */
  | 'notifications'
  /** By USN, and deletions by comparing keys. */
  | 'usn'
  /** By full syncs. */
  | 'full';

/** Options of {@link SyncMode}. */
export interface SyncModeOptions {
  readonly state: ReplicaState;
  readonly logger: LoggerService;
  /** Age in milliseconds above which the replica is not read. */
  readonly maxStalenessMs: number;
  /** Milliseconds between full syncs in the mode `full`. Default: a minute. */
  readonly syncIntervalMs?: number;
}

/** Logs how the directory is followed, and schedules the syncs of the mode `full`. */
export class SyncMode {
  readonly #options: SyncModeOptions;
  #current: ReplicaMode | undefined;
  #nextSyncAt = -Infinity;

  constructor(options: SyncModeOptions) {
    this.#options = options;
  }

  /** `undefined` before the first poll. */
  get current(): ReplicaMode | undefined {
    return this.#current;
  }

  /** Whether a full sync is due in the mode `full`. */
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
        'The directory has no USNs that the service account may search for: the replica is updated by full syncs. Enable the USN plugin, and allow the account to search for entryusn',
      );
    } else if (this.#current) {
      logger.info('The directory sends change notifications again');
    }
    if (mode !== 'full') {
      state.maxStalenessMs = maxStalenessMs;
    }
    this.#current = mode;
  }

  /** Schedules the next full sync. The replica may be two intervals old. */
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
