import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  covers,
  type EntryCounts,
  type GuardRecords,
  type MassDeletionGuard,
  type Quarantine,
} from '@directory-gateway/directory-core';

const HISTORY = 'directory_guard_history';
const OVERRIDES = 'directory_guard_overrides';
const QUARANTINES = 'directory_quarantines';

const HOUR_MS = 60 * 60_000;

/** At least 24 hours: the oldest sample may be from the end of its hour. */
const BASELINE_MS = 25 * HOUR_MS;

/** Age at which samples and overrides are deleted. */
const RETENTION_MS = 48 * HOUR_MS;

const OVERRIDE_MS = 10 * 60_000;

/** Default interval at which a quarantined process checks for an override. */
const SYNC_INTERVAL_MS = 1000;

/**
 * Time without renewal after which a quarantined process is considered ended.
 */
const ENTRY_EXPIRES_MS = 60_000;

interface ReplicaQuarantineOptions {
  /** Database with the plugin's tables. */
  readonly database: Database;
  /** SHA-256 of base DN and object classes, in hex. */
  readonly directoryKey: string;
  readonly logger: LoggerService;
  /** Milliseconds between checks for an override. Default: 1000. */
  readonly intervalMs?: number;
}

/** The guard and the replica of this process. */
interface GuardedReplica {
  readonly guard: Pick<MassDeletionGuard, 'quarantine'>;
  readonly replica: { retry(): void };
}

/**
 * The mass-deletion guard's records in the portal's database, which all
 * processes share: the baseline, overrides, and which processes are quarantined.
 */
export class ReplicaQuarantine implements GuardRecords {
  readonly #options: ReplicaQuarantineOptions;
  readonly #processId = randomUUID();
  #guarded: GuardedReplica | undefined;
  /** The last sample that this process wrote. */
  #sample: (EntryCounts & { readonly hour: number }) | undefined;
  #isPublished = false;
  #hasFailed = false;

  constructor(options: ReplicaQuarantineOptions) {
    this.#options = options;
  }

  async load(): ReturnType<GuardRecords['load']> {
    const now = Date.now();
    const samples: (EntryCounts & { hour: Date | number })[] = await this.#own(
      HISTORY,
    )
      .select('hour', 'users', 'groups')
      .orderBy('hour', 'desc')
      .limit(RETENTION_MS / HOUR_MS + 1);
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

  /** Records the highest counts of each hour. */
  async addSample({ users, groups }: EntryCounts): Promise<void> {
    const now = Date.now();
    const hour = now - (now % HOUR_MS);
    const sample = { users, groups, hour };
    if (this.#sample?.hour === hour && covers(this.#sample, sample)) {
      return;
    }
    await this.#options
      .database(HISTORY)
      .insert({ ...this.#rowOf(sample), hour: new Date(hour) })
      .onConflict(['directory_key', 'hour'])
      .merge({
        users: this.#greatest('users'),
        groups: this.#greatest('groups'),
      });
    this.#sample = sample;
    const oldest = new Date(now - RETENTION_MS);
    await this.#own(HISTORY).where('hour', '<', oldest).delete();
    await this.#own(OVERRIDES).where('expires_at', '<', oldest).delete();
  }

  async replaceBaseline(counts: EntryCounts): Promise<void> {
    const now = Date.now();
    await this.#options.database.transaction(async transaction => {
      await transaction(HISTORY)
        .where({ directory_key: this.#options.directoryKey })
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
   * Accepts a sync with these or higher counts in all processes for 10 minutes.
   *
   * @returns the expiry of the override
   * @throws InputError when no process is quarantined with exactly these
   *   counts.
   */
  async override(
    override: EntryCounts & { readonly acceptedBy: string },
  ): Promise<Date> {
    const { users, groups, acceptedBy } = override;
    await this.synchronize();
    const now = Date.now();
    const quarantined = await this.#own(QUARANTINES)
      .where({ users, groups })
      .where('seen_at', '>=', new Date(now - ENTRY_EXPIRES_MS))
      .first();
    if (!quarantined) {
      throw new InputError(
        `The mass-deletion guard has not rejected a directory with ${users} users and ${groups} groups. See the log for the counts.`,
      );
    }
    const expiresAt = new Date(now + OVERRIDE_MS);
    await this.#options.database(OVERRIDES).insert({
      id: randomUUID(),
      ...this.#rowOf({ users, groups }),
      accepted_by: acceptedBy,
      accepted_at: new Date(now),
      expires_at: expiresAt,
    });
    await this.synchronize();
    return expiresAt;
  }

  /** Calls {@link synchronize} at an interval until the plugin is shut down. */
  start(guarded: GuardedReplica, lifecycle: LifecycleService): void {
    this.#guarded = guarded;
    const ended = new AbortController();
    lifecycle.addShutdownHook(() => ended.abort());
    this.#synchronizeUntil(ended.signal);
  }

  async #synchronizeUntil(ended: AbortSignal): Promise<void> {
    const { intervalMs = SYNC_INTERVAL_MS } = this.#options;
    while (!ended.aborted) {
      await this.synchronize().catch(error => {
        if (!this.#hasFailed) {
          this.#options.logger.warn(
            `The quarantine state cannot be written to the database: ${error}`,
          );
        }
        this.#hasFailed = true;
      });
      await sleep(intervalMs, undefined, {
        signal: ended,
        ref: false,
      }).catch(() => {});
    }
  }

  /**
   * Records whether this process is quarantined, and retries its sync when an
   * override covers it. Does not query the database without a quarantine.
   */
  async synchronize(): Promise<void> {
    const { guard, replica } = this.#guarded ?? {};
    if (guard?.quarantine) {
      await this.#publish(guard.quarantine);
      const { quarantine } = guard;
      const { overrides } = await this.load();
      if (quarantine && overrides.some(each => covers(quarantine, each))) {
        replica?.retry();
      }
    } else if (this.#isPublished) {
      await this.#options
        .database(QUARANTINES)
        .where({ process_id: this.#processId })
        .delete();
      this.#isPublished = false;
    }
    this.#hasFailed = false;
  }

  async #publish({ message, ...counts }: Quarantine): Promise<void> {
    const now = Date.now();
    const state = { ...this.#rowOf(counts), message, seen_at: new Date(now) };
    await this.#options
      .database(QUARANTINES)
      .insert({ process_id: this.#processId, ...state })
      .onConflict('process_id')
      .merge(state);
    this.#isPublished = true;
    await this.#options
      .database(QUARANTINES)
      .where('seen_at', '<', new Date(now - ENTRY_EXPIRES_MS))
      .delete();
  }

  #rowOf({ users, groups }: EntryCounts) {
    return { directory_key: this.#options.directoryKey, users, groups };
  }

  #own(table: string) {
    return this.#options
      .database(table)
      .where({ directory_key: this.#options.directoryKey });
  }

  /** Replaces `max()` of SQLite and `greatest()` of PostgreSQL. */
  #greatest(column: keyof EntryCounts) {
    return this.#options.database.raw(
      'case when excluded.?? > ?? then excluded.?? else ?? end',
      [column, `${HISTORY}.${column}`, column, `${HISTORY}.${column}`],
    );
  }
}
