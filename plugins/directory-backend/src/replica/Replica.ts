import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConfirmedSync,
  DirectorySync,
  type DirectorySyncOptions,
  type TableObserver,
} from './sync/DirectorySync';
import {
  ReplicaState,
  suspensionFor,
  type ReplicaStatus,
  type SuspensionReason,
} from './sync/ReplicaState';
import type { ReplicaMode } from './sync/SyncMode';
import { ReplicaTables } from './tables/ReplicaTables';

/** Interval of polls, which is the maximum age of the source's position. */
const POLL_MS = 250;

/** Pause after failures in a row, which doubles from the first to the second. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 1000;

/** The same after the mass-deletion guard rejected a full sync. */
const MAX_QUARANTINE_PAUSE_MS = 30_000;

/** Options of {@link Replica}. */
export interface ReplicaOptions
  extends Omit<
    DirectorySyncOptions,
    'tables' | 'state' | 'stopped' | 'suspendFor' | 'observer'
  > {}

/**
 * A replica of the directory's users, groups and agreements in memory. While no
 * server can be followed, it can still be read up to its maximum age; after a
 * change of server, until it has been compared with the new one.
 */
export class Replica {
  readonly tables = new ReplicaTables();
  /** Admits reads of the tables. */
  readonly state: ReplicaState;
  readonly #logger: LoggerService;
  readonly #sync: DirectorySync;
  readonly #stopped = new AbortController();
  #observer: TableObserver | undefined;
  #confirmed: ConfirmedSync | undefined;
  #wasStale = false;
  /** Ends the pause before the next poll. */
  #paused: AbortController | undefined;

  constructor(options: ReplicaOptions) {
    this.#logger = options.logger;
    this.state = new ReplicaState(options);
    this.#sync = new DirectorySync({
      ...options,
      tables: this.tables,
      state: this.state,
      observer: {
        onWrite: keys => {
          this.#confirmed = undefined;
          this.#observer?.onWrite(keys);
        },
        onConfirmed: sync => {
          this.#confirmed = sync;
          this.#observer?.onConfirmed(sync);
        },
      },
      stopped: this.#stopped.signal,
      suspendFor: error => this.#suspendFor(error),
    });
  }

  /** Whether it may be read now. */
  get isServing(): boolean {
    return this.state.isServing;
  }

  get status(): ReplicaStatus {
    return this.state.status;
  }

  /** `undefined` before the first poll. */
  get mode(): ReplicaMode | undefined {
    return this.#sync.mode.current;
  }

  /** URL of the server that the tables equal, if a sync has finished. */
  get server(): string | undefined {
    return this.#sync.server;
  }

  /**
   * The last sync, after which the tables equal the directory; `undefined` when
   * they were written since, or must not be read.
   */
  get confirmed(): ConfirmedSync | undefined {
    return this.isServing ? this.#confirmed : undefined;
  }

  /** Keys of entries with values that may be stricter than the server's. */
  get held(): Pick<ReadonlySet<string>, 'size' | 'has'> {
    return this.#sync.held;
  }

  /**
   * Suspends reads in the same turn, until the tables have been compared with
   * the directory.
   */
  suspend(reason: SuspensionReason, message: string): void {
    if (!this.#stopped.signal.aborted) {
      this.state.suspend(reason, message);
      this.#sync.disconnect();
    }
  }

  /** Reports writes and syncs to an observer. Call it before {@link follow}. */
  observe(observer: TableObserver): void {
    this.#observer = observer;
  }

  /** Polls now if it pauses, because the next sync may succeed. */
  retry(): void {
    this.#paused?.abort();
  }

  /** Follows the directory until {@link stop}. */
  async follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const isCurrent = await this.#sync.poll();
        if (isCurrent && failures > 0) {
          this.#logger.info(`Replica follows ${this.server} again`);
        }
        failures = isCurrent ? 0 : failures;
      } catch (error) {
        this.#suspendFor(error);
        if (failures++ === 0 && !signal.aborted) {
          this.#logger.warn(
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
    this.#sync.disconnect();
  }

  #suspendFor(error: unknown): void {
    const reason = suspensionFor(error);
    if (reason) {
      this.suspend(reason, (error as Error).message);
    }
  }

  #reportStale(): void {
    const isStale = this.status.kind === 'stale';
    if (isStale && !this.#wasStale) {
      this.#logger.error(
        `Replica is older than ${
          this.state.maxStalenessMs / 1000
        } seconds: queries return 503`,
      );
    }
    this.#wasStale = isStale;
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
