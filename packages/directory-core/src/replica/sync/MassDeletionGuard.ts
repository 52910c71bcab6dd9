import type { LoggerService } from '@backstage/backend-plugin-api';
import { timeout, TimeoutStrategy } from 'cockatiel';
import { DirectoryUnavailableError } from '../../directory/errors';

/**
 * Number of deletions that are accepted regardless of their share: in a small
 * directory, a few entries are a large share.
 */
const MAX_DELETED_ENTRIES = 10;

/**
 * Rejects after five seconds, so that an unresponsive database cannot stop the
 * sync.
 */
const withinTimeout = timeout(5000, TimeoutStrategy.Aggressive);

/** Number of users and groups of a directory. */
export interface EntryCounts {
  readonly users: number;
  readonly groups: number;
}

/** Records on which checks are based, shared by all processes of a portal. */
export interface GuardRecords {
  /** Loads the records. Rejects when they cannot be read. */
  load(): Promise<{
    /**
     * The highest counts of the last 24 hours; `undefined` before the first
     * sync that passed.
     */
    readonly baseline: EntryCounts | undefined;
    /** Counts that an administrator has accepted in the last 10 minutes. */
    readonly overrides: readonly EntryCounts[];
  }>;
  /** Records the counts of a sync that passed. */
  addSample(counts: EntryCounts): Promise<void>;
  /** Replaces the baseline with counts that an administrator has accepted. */
  replaceBaseline(counts: EntryCounts): Promise<void>;
}

/** Counts that were rejected, with the error message. */
export interface Quarantine extends EntryCounts {
  readonly message: string;
}

interface MassDeletionGuardOptions {
  readonly records: GuardRecords;
  /** Maximum share of users or groups that may be deleted (0 to 1). */
  readonly maxShrinkage: number;
  readonly logger: LoggerService;
}

/**
 * Rejects a sync that would delete a large share of the users or groups: a
 * directory with broken access rules returns few entries and reports success.
 * The baseline is the highest count of the last 24 hours, so that many small
 * deletions add up and a restart does not reset it.
 */
export class MassDeletionGuard {
  readonly #options: MassDeletionGuardOptions;
  /** Baseline of the last check. */
  #baseline: EntryCounts | undefined;
  #hasLoaded = false;
  #isUnreadable = false;
  /**
   * Number of entries that the last sync found but the replica does not serve.
   */
  #unserved: EntryCounts | undefined;
  #quarantine: Quarantine | undefined;
  #lastCheck: Promise<void> = Promise.resolve();

  constructor(options: MassDeletionGuardOptions) {
    this.#options = options;
  }

  /** The counts that were last rejected; `undefined` once a sync passes. */
  get quarantine(): Quarantine | undefined {
    return this.#quarantine;
  }

  /**
   * Loads the baseline unless it has been loaded.
   *
   * @throws DirectoryUnavailableError with the reason `database`.
   */
  async prepare(): Promise<void> {
    if (!this.#hasLoaded) {
      await this.#load();
    }
  }

  /**
   * Checks the counts of a sync. Concurrent checks run one after another.
   *
   * @param found - counts in the directory
   * @param replica - current counts in the replica
   * @throws DirectoryUnavailableError with the reason `quarantine` when too
   *   many entries are missing, or `database` when the baseline has never been
   *   loaded.
   */
  check(found: EntryCounts, replica: EntryCounts): Promise<void> {
    const check = this.#lastCheck.then(() => this.#check(found, replica));
    this.#lastCheck = check.catch(() => {});
    return check;
  }

  /** Whether these counts of the replica, after deletions, exceed the limit. */
  wouldReject(replica: EntryCounts): boolean {
    return (
      this.#unserved !== undefined &&
      this.#exceedsLimit(this.#withUnserved(replica))
    );
  }

  #withUnserved({ users, groups }: EntryCounts): EntryCounts {
    return {
      users: users + (this.#unserved?.users ?? 0),
      groups: groups + (this.#unserved?.groups ?? 0),
    };
  }

  async #check(found: EntryCounts, replica: EntryCounts): Promise<void> {
    const overrides = await this.#load();
    if (this.#exceedsLimit(found)) {
      if (!overrides.some(override => covers(found, override))) {
        this.#reject(found);
      }
      await withinTimeout.execute(() =>
        this.#options.records.replaceBaseline(found),
      );
      this.#baseline = found;
    } else {
      await this.#addSample(found);
      this.#baseline = {
        users: Math.max(found.users, this.#baseline?.users ?? 0),
        groups: Math.max(found.groups, this.#baseline?.groups ?? 0),
      };
    }
    this.#quarantine = undefined;
    this.#unserved = {
      users: Math.max(0, found.users - replica.users),
      groups: Math.max(0, found.groups - replica.groups),
    };
  }

  #reject({ users, groups }: EntryCounts): never {
    const { users: usersBefore, groups: groupsBefore } = this.#baseline ?? {};
    const message = `The directory has ${users} users and ${groups} groups, after ${usersBefore} and ${groupsBefore} in the last 24 hours (directory.replica.maxShrinkage). If the entries were deleted on purpose, run the override-deletion-guard action with users=${users} and groups=${groups}`;
    const last = this.#quarantine;
    if (last && (last.users !== users || last.groups !== groups)) {
      // A suspension is logged only once, but an override requires these
      // counts.
      this.#options.logger.error(message);
    }
    this.#quarantine = { users, groups, message };
    throw new DirectoryUnavailableError(message, { reason: 'quarantine' });
  }

  /**
   * Loads the baseline and returns the overrides; none when the database cannot
   * be read.
   */
  async #load(): Promise<readonly EntryCounts[]> {
    try {
      const { baseline, overrides } = await withinTimeout.execute(() =>
        this.#options.records.load(),
      );
      this.#baseline = baseline;
      this.#hasLoaded = true;
      this.#isUnreadable = false;
      return overrides;
    } catch (error) {
      const message = `The baseline of the mass-deletion guard cannot be read: ${error}`;
      const isFirst = !this.#isUnreadable;
      this.#isUnreadable = true;
      if (!this.#hasLoaded) {
        throw new DirectoryUnavailableError(message, {
          cause: error,
          reason: 'database',
        });
      }
      if (isFirst) {
        this.#options.logger.warn(message);
      }
      return [];
    }
  }

  async #addSample(counts: EntryCounts): Promise<void> {
    if (this.#isUnreadable) {
      return;
    }
    const { records, logger } = this.#options;
    await withinTimeout
      .execute(() => records.addSample(counts))
      .catch(error =>
        logger.warn(
          `The baseline of the mass-deletion guard cannot be recorded: ${error}`,
        ),
      );
  }

  #exceedsLimit({ users, groups }: EntryCounts): boolean {
    const baseline = this.#baseline;
    const isTooFew = (count: number, before = 0) => {
      const deleted = before - count;
      return (
        (count === 0 && before > 0) ||
        (deleted > MAX_DELETED_ENTRIES &&
          deleted > before * this.#options.maxShrinkage)
      );
    };
    return (
      isTooFew(users, baseline?.users) || isTooFew(groups, baseline?.groups)
    );
  }
}

/** Returns whether counts are at least those of an override. */
export function covers(counts: EntryCounts, override: EntryCounts): boolean {
  return counts.users >= override.users && counts.groups >= override.groups;
}
