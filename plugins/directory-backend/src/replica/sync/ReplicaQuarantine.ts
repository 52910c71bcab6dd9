import type {
  DatabaseService,
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrateDirectoryDatabase } from '../../openDatabase';
import {
  covers,
  type EntryCounts,
  type GuardRecords,
  type MassDeletionGuard,
} from './MassDeletionGuard';
import type { Replica } from '../Replica';

const HISTORY = 'directory_guard_history';
const OVERRIDES = 'directory_guard_overrides';
const QUARANTINES = 'directory_quarantines';

const HOUR_MS = 60 * 60_000;

/** Covers at least 24 hours: the oldest sample may be of the end of its hour. */
const BASELINE_MS = 25 * HOUR_MS;

const KEPT_MS = 48 * HOUR_MS;

const OVERRIDE_MS = 10 * 60_000;

/** Interval at which a quarantined process looks for an override. */
const POLL_MS = 1000;

/** A process that has not renewed its quarantine for this long has ended. */
const QUARANTINE_EXPIRES_MS = 60_000;

/** Knex, as Backstage provides it. */
type Database = Awaited<ReturnType<DatabaseService['getClient']>>;

interface QuarantinesOptions {
  /** SHA-256 of what the counts of a directory depend on, in hex. */
  readonly directoryKey: string;
  readonly logger: LoggerService;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

/** What this process guards. */
interface GuardedReplica {
  readonly guard: Pick<MassDeletionGuard, 'quarantine'>;
  readonly replica: Pick<Replica, 'retry'>;
}

/**
 * The mass-deletion guard's records in the portal's database, which all
 * processes share: the baseline, overrides, and which processes are quarantined.
 */
export class ReplicaQuarantine implements GuardRecords {
  readonly #database: Database;
  readonly #directoryKey: string;
  readonly #logger: LoggerService;
  readonly #now: () => number;
  readonly #processId = randomUUID();
  #guarded: GuardedReplica | undefined;
  /** The last sample that this process has written. */
  #sample: (EntryCounts & { readonly hour: number }) | undefined;
  #isOnRecord = false;
  #hasFailed = false;

  private constructor(database: Database, options: QuarantinesOptions) {
    this.#database = database;
    this.#directoryKey = options.directoryKey;
    this.#logger = options.logger;
    this.#now = options.now ?? Date.now;
  }

  /** Migrates the plugin's tables, unless the site does that itself. */
  static async create(
    options: QuarantinesOptions & { readonly database: DatabaseService },
  ): Promise<ReplicaQuarantine> {
    const database = await migrateDirectoryDatabase(options.database);
    return new ReplicaQuarantine(database, options);
  }

  async load(): ReturnType<GuardRecords['load']> {
    const now = this.#now();
    const samples: (EntryCounts & { hour: Date | number })[] = await this.#own(
      HISTORY,
    )
      .select('hour', 'users', 'groups')
      .orderBy('hour', 'desc')
      .limit(KEPT_MS / HOUR_MS + 1);
    const current = samples.filter(
      (sample, index) => index === 0 || Number(sample.hour) > now - BASELINE_MS,
    );
    const overrides: EntryCounts[] = await this.#own(OVERRIDES)
      .where('expires_at', '>', new Date(now))
      .select('users', 'groups');
    return {
      baseline: samples[0] && {
        users: Math.max(...current.map(({ users }) => users)),
        groups: Math.max(...current.map(({ groups }) => groups)),
      },
      overrides,
    };
  }

  /** The highest counts of each hour are kept. */
  async addSample({ users, groups }: EntryCounts): Promise<void> {
    const now = this.#now();
    const hour = now - (now % HOUR_MS);
    const sample = { users, groups, hour };
    if (this.#sample?.hour === hour && covers(this.#sample, sample)) {
      return;
    }
    await this.#database(HISTORY)
      .insert({ ...this.#rowOf(sample), hour: new Date(hour) })
      .onConflict(['directory_key', 'hour'])
      .merge({
        users: this.#greatest('users'),
        groups: this.#greatest('groups'),
      });
    this.#sample = sample;
    await this.#own(HISTORY)
      .where('hour', '<', new Date(now - KEPT_MS))
      .delete();
    await this.#own(OVERRIDES)
      .where('expires_at', '<', new Date(now - KEPT_MS))
      .delete();
  }

  async replaceBaseline(counts: EntryCounts): Promise<void> {
    const now = this.#now();
    await this.#database.transaction(async transaction => {
      await transaction(HISTORY)
        .where({ directory_key: this.#directoryKey })
        .delete();
      await transaction(HISTORY)
        .insert({
          ...this.#rowOf(counts),
          hour: new Date(now - (now % HOUR_MS)),
        })
        .onConflict(['directory_key', 'hour'])
        .merge();
    });
    this.#sample = undefined;
  }

  /**
   * Lets a sync with these counts, or higher ones, pass in all processes, for 10
   * minutes.
   *
   * @returns when the override expires
   * @throws InputError when no process is quarantined with exactly these counts.
   */
  async accept({
    users,
    groups,
    acceptedBy,
  }: EntryCounts & { readonly acceptedBy: string }): Promise<Date> {
    await this.exchange();
    const now = this.#now();
    const quarantined = await this.#own(QUARANTINES)
      .where({ users, groups })
      .where('seen_at', '>=', new Date(now - QUARANTINE_EXPIRES_MS))
      .first();
    if (!quarantined) {
      throw new InputError(
        `The mass-deletion guard has not rejected a directory with ${users} users and ${groups} groups. The log has the counts.`,
      );
    }
    const expiresAt = new Date(now + OVERRIDE_MS);
    await this.#database(OVERRIDES).insert({
      id: randomUUID(),
      ...this.#rowOf({ users, groups }),
      accepted_by: acceptedBy,
      accepted_at: new Date(now),
      expires_at: expiresAt,
    });
    await this.exchange();
    return expiresAt;
  }

  /** Calls {@link exchange} every second until the plugin is shut down. */
  follow(guarded: GuardedReplica, lifecycle: LifecycleService): void {
    this.#guarded = guarded;
    const ended = new AbortController();
    lifecycle.addShutdownHook(() => ended.abort());
    this.#exchangeUntil(ended.signal);
  }

  async #exchangeUntil(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await this.exchange().catch(error => {
        if (!this.#hasFailed) {
          this.#logger.warn(`ReplicaQuarantine cannot be exchanged: ${error}`);
        }
        this.#hasFailed = true;
      });
      await sleep(POLL_MS, undefined, { signal: ended, ref: false }).catch(
        () => {},
      );
    }
  }

  /**
   * Records whether this process is quarantined, and has it retry the sync when
   * there is an override. Without a quarantine the database is not queried.
   */
  async exchange(): Promise<void> {
    const { guard, replica } = this.#guarded ?? {};
    if (guard?.quarantine) {
      await this.#record(guard.quarantine);
      const { quarantine } = guard;
      const { overrides } = await this.load();
      if (
        quarantine &&
        overrides.some(accepted => covers(quarantine, accepted))
      ) {
        replica?.retry();
      }
    } else if (this.#isOnRecord) {
      await this.#database(QUARANTINES)
        .where({ process_id: this.#processId })
        .delete();
      this.#isOnRecord = false;
    }
    this.#hasFailed = false;
  }

  async #record({
    message,
    ...counts
  }: EntryCounts & { readonly message: string }): Promise<void> {
    const now = this.#now();
    const state = {
      ...this.#rowOf(counts),
      message,
      seen_at: new Date(now),
    };
    await this.#database(QUARANTINES)
      .insert({ process_id: this.#processId, ...state })
      .onConflict('process_id')
      .merge(state);
    this.#isOnRecord = true;
    await this.#database(QUARANTINES)
      .where('seen_at', '<', new Date(now - QUARANTINE_EXPIRES_MS))
      .delete();
  }

  #rowOf({ users, groups }: EntryCounts) {
    return { directory_key: this.#directoryKey, users, groups };
  }

  #own(table: string) {
    return this.#database(table).where({ directory_key: this.#directoryKey });
  }

  /** `max()` of SQLite is `greatest()` in PostgreSQL. */
  #greatest(column: keyof EntryCounts) {
    return this.#database.raw(
      'case when excluded.?? > ?? then excluded.?? else ?? end',
      [column, `${HISTORY}.${column}`, column, `${HISTORY}.${column}`],
    );
  }
}
