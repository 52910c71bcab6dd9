import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DirectorySync,
  type DirectorySyncOptions,
  type ReplicaMode,
  type TableObserver,
} from './sync/DirectorySync';
import type { ReplicaSource } from './sync/ReplicaSource';
import {
  ReplicaState,
  suspensionFor,
  type ReplicaStatus,
  type SuspensionReason,
} from './sync/ReplicaState';
import type { StricterValues } from './sync/StricterValues';
import { ReplicaTables } from './tables/ReplicaTables';

/** Default interval of polls. */
const POLL_MS = 250;

/**
 * Pause after consecutive failures: doubles from the minimum to the maximum.
 */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 1000;

/** Maximum pause after the mass-deletion guard rejected a full sync. */
const MAX_QUARANTINE_PAUSE_MS = 30_000;

/** Options of {@link Replica}. */
export interface ReplicaOptions extends Omit<
  DirectorySyncOptions,
  'tables' | 'state' | 'suspendFor' | 'observers'
> {
  /** Milliseconds between polls. Default: 250. */
  readonly pollMs?: number;
}

/**
 * A replica of the directory's users, groups and agreements in memory. It can
 * be read up to its maximum age while no server is reachable, and after a
 * switch to another server while it is compared with that server.
 */
export class Replica {
  readonly tables = new ReplicaTables();
  /** Admits reads of the tables. */
  readonly state: ReplicaState;
  /** Returns how the second position relates to the first. */
  readonly compare: ReplicaSource['compare'];
  readonly #logger: LoggerService;
  readonly #pollMs: number;
  readonly #sync: DirectorySync;
  readonly #stopped = new AbortController();
  readonly #observers = new Set<TableObserver>();
  #wasStale = false;
  /** Ends the pause before the next poll. */
  #paused: AbortController | undefined;

  constructor(options: ReplicaOptions) {
    this.compare = (from, to) => options.source.compare(from, to);
    this.#logger = options.logger;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.state = new ReplicaState(options);
    this.#sync = new DirectorySync({
      ...options,
      tables: this.tables,
      state: this.state,
      observers: this.#observers,
      suspendFor: error => this.#suspendFor(error),
    });
  }

  /** Whether the replica may be read now. */
  get isServing(): boolean {
    return this.state.isServing;
  }

  get status(): ReplicaStatus {
    return this.state.status;
  }

  /** Current mode; `undefined` before the first poll. */
  get mode(): ReplicaMode | undefined {
    return this.#sync.mode;
  }

  /**
   * URL of the server that the tables match; `undefined` before the first sync.
   */
  get server(): string | undefined {
    return this.#sync.server;
  }

  /**
   * Values that are stricter than the server's, after a switch to another
   * server.
   */
  get stricter(): Pick<StricterValues, 'isActive'> {
    return this.#sync.stricter;
  }

  /**
   * Suspends reads immediately, until the tables have been compared with the
   * directory.
   */
  suspend(reason: SuspensionReason, message: string): void {
    if (!this.#stopped.signal.aborted) {
      this.state.suspend(reason, message);
      if (reason === 'accessCheck') {
        this.#sync.requestCheck();
      }
    }
  }

  /** Reports writes and syncs to an observer. Call it before {@link follow}. */
  observe(observer: TableObserver): void {
    this.#observers.add(observer);
  }

  /** Ends the pause before the next poll. */
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
              this.isServing ? ', and is served until it is stale' : ''
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
        ? this.#pollMs
        : Math.min(MIN_PAUSE_MS * 2 ** (failures - 1), maxMs);
    this.#paused = new AbortController();
    const { signal } = this.#paused;
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}
