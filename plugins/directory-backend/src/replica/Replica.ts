import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import { Comparison } from './Comparison';
import { expectServer } from './expectServer';
import { RecentChanges } from './RecentChanges';
import {
  ReplicaState,
  suspensionFor,
  type ReplicaStatus,
  type SuspensionReason,
} from './ReplicaState';
import { Rereading } from './Rereading';
import { createTables, type ReplicaTables } from './ReplicaTables';
import { ShrinkageGuard } from './ShrinkageGuard';
import { TableWriter } from './TableWriter';
import { UnreportedDeletions } from './UnreportedDeletions';
import type { ReplicaKeys, ReplicaSource, ReplicaTime } from './ReplicaSource';

/** The directory is looked at as often as its clock is believed. */
const LOOK_MS = 250;

/** After a failure, growing from one to the other. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** Reading all takes at most a quarter of the time, whatever goes wrong. */
const REST_PER_READING = 3;

/** Whoever was answered by the directory itself has been answered by then. */
const SETTLED_AFTER_MS = 60_000;

const REREADING_MS = 60 * 60_000;

/** How a copy is kept. */
export interface ReplicaOptions {
  readonly source: ReplicaSource;
  readonly logger: LoggerService;
  /** A copy that is older than so many milliseconds is not used. */
  readonly maxStalenessMs: number;
  /** With a larger share of entries gone a full reading is not believed, 0 to 1. */
  readonly maxShrinkage: number;
  /** Called when the copy has been in use for a minute without a break. */
  readonly onSettled?: () => void;
  /** Milliseconds between readings of all that is there. Default: an hour. */
  readonly rereadingIntervalMs?: number;
}

/**
 * A copy of the directory's users, groups and agreements, kept as it is there:
 * changes by their numbers, what is gone by listening. Between two servers, or
 * when the listening has broken off, it is not used until it has been compared.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly tables: ReplicaTables = createTables();
  readonly #writer = new TableWriter(this.tables);
  readonly #state: ReplicaState;
  readonly #guard: ShrinkageGuard;
  readonly #comparison: Comparison;
  readonly #rereading: Rereading;
  readonly #deletions: UnreportedDeletions;
  readonly #changes: RecentChanges;
  readonly #stopped = new AbortController();
  /** Of what the tables hold; `undefined` when that is not known. */
  #time: ReplicaTime | undefined;
  /** Since when it has been usable without a break. */
  #usableSince = Infinity;
  /** Before that, all is not read anew. */
  #restsUntil = -Infinity;
  #hush: (() => void) | undefined;

  constructor(options: ReplicaOptions) {
    const { rereadingIntervalMs: intervalMs = REREADING_MS } = options;
    this.#options = options;
    this.#state = new ReplicaState(options);
    this.#changes = new RecentChanges({
      ...{ source: options.source, tables: this.tables, writer: this.#writer },
    });
    this.#guard = new ShrinkageGuard({ ...options, tables: this.tables });
    this.#comparison = new Comparison({
      writer: this.#writer,
      guard: keys => this.#guardInUse(keys),
    });
    const services = { ...options, comparison: this.#comparison };
    this.#rereading = new Rereading({ ...services, intervalMs });
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

  /**
   * Suspends reads in the same turn, until the tables have been compared with
   * the directory.
   */
  suspend(reason: SuspensionReason, message: string): void {
    if (!this.#stopped.signal.aborted) {
      this.#state.suspend(reason, message);
      this.#deafen();
    }
  }

  /** Why the mass-deletion guard rejects the directory, if it does. */
  get refusal(): string | undefined {
    return this.#guard.refusal;
  }

  /** Believes the directory the next time, however little it has. */
  acceptShrinkage(): void {
    this.#guard.accept();
  }

  /** Copies, and follows until {@link stop}. */
  async follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#look();
        if (failures > 0) {
          this.#options.logger.info('The directory is followed again');
        }
        failures = 0;
      } catch (error) {
        this.#suspendFor(error);
        if (failures++ === 0 && !signal.aborted) {
          this.#options.logger.warn(
            `The directory cannot be followed: ${stringifyError(error)}`,
          );
        }
      }
      await pause(failures, signal);
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#deafen();
  }

  async #look(): Promise<void> {
    const { suspensions } = this.#state;
    const time = await this.#options.source.time();
    if (time.usn === undefined) {
      throw new Error('The server does not count its writes (USN plugin)');
    }
    if (this.#time?.era === time.era) {
      await this.#follow(time);
    } else {
      await this.#rebuild(time);
    }
    await this.#rereading.repeatFailed(time.server);
    if (suspensions !== this.#state.suspensions) {
      // What was read before the suspension does not end it.
      this.#deafen();
    } else if (this.#hush) {
      this.#time = time;
      this.#prove(time);
    }
  }

  #suspendFor(error: unknown): void {
    const reason = suspensionFor(error);
    if (reason) {
      this.suspend(reason, (error as Error).message);
    }
  }

  #prove(time: ReplicaTime): void {
    const now = performance.now();
    if (!this.isServing) {
      this.#usableSince = now;
    } else if (now - this.#usableSince >= SETTLED_AFTER_MS) {
      this.#usableSince = Infinity;
      this.#options.onSettled?.();
    }
    this.#state.prove(time.askedAt);
    this.#rereading.startIfDue(time.server);
    this.#deletions.startIfDue(time);
  }

  /** The mass-deletion guard for a comparison: what it rejects stops reads. */
  #guardInUse(keys: ReplicaKeys): void {
    try {
      this.#guard.judge(keys);
    } catch (error) {
      this.#suspendFor(error);
      this.#forget();
      throw error;
    }
  }

  async #listen(server: string): Promise<void> {
    const hush = await this.#options.source.listen(server, {
      onGone: key => {
        this.#writer.remove(key);
        this.#changes.heardGone(key);
      },
      onLost: error => {
        this.#deafen();
        this.#options.logger.warn(
          `The directory's changes are no longer heard: ${error.message}`,
        );
      },
    });
    this.#hush = hush;
    if (this.#stopped.signal.aborted) {
      this.#deafen();
    }
  }

  #deafen(): void {
    this.#hush?.();
    this.#hush = undefined;
    this.#state.lose();
    this.#comparison.cancel();
  }

  /** Has all read anew. */
  #forget(): void {
    this.#deafen();
    this.#changes.forget();
    this.#time = undefined;
  }

  async #rebuild(time: ReplicaTime): Promise<void> {
    this.#forget();
    if (performance.now() < this.#restsUntil) {
      // Servers that take turns must not have everything read all the time.
      throw new Error('All was read too short a time ago to be read again');
    }
    const askedAt = performance.now();
    try {
      await this.#listen(time.server);
      await this.#readAll(time, askedAt);
    } catch (error) {
      this.#deafen();
      throw error;
    } finally {
      const tookMs = performance.now() - askedAt;
      this.#restsUntil = performance.now() + REST_PER_READING * tookMs;
    }
  }

  async #readAll(time: ReplicaTime, askedAt: number): Promise<void> {
    // Straight into the tables: nobody reads them until all is there.
    const keys = await this.#options.source.readAll(portion =>
      this.#writer.takeInSlices(portion, askedAt),
    );
    expectServer(keys, time);
    this.#guard.judge(keys);
    await this.#writer.keepOnly(keys);
    this.#deletions.reset(time);
    await this.tables.users.gather();
    const { users, groups, agreements } = keys;
    this.#options.logger.info('The directory is copied', {
      ...{
        users: users.size,
        groups: groups.size,
        agreements: agreements.size,
      },
      seconds: Math.round(performance.now() - askedAt) / 1000,
    });
  }

  async #follow(time: ReplicaTime): Promise<void> {
    const last = this.#time!;
    if (!this.#hush) {
      await this.#catchUp(time);
    } else if (last.usn !== time.usn || last.usn !== last.settledUsn) {
      await this.#readChanges(time);
    }
  }

  /** What has changed while nobody listened. */
  async #catchUp(time: ReplicaTime): Promise<void> {
    // What is heard is worth nothing until all before it is known.
    try {
      await this.#listen(time.server);
      await this.#readChanges(time);
      const keys = await this.#options.source.readKeys();
      expectServer(keys, time);
      this.#guard.judge(keys);
      await this.#writer.keepOnly(keys);
      this.#deletions.reset(time);
    } catch (error) {
      this.#deafen();
      throw error;
    }
  }

  #readChanges(time: ReplicaTime): Promise<void> {
    return this.#changes.take(time, (this.#time!.settledUsn ?? 0) + 1);
  }
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ms =
    failures === 0
      ? LOOK_MS
      : Math.min(MIN_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
