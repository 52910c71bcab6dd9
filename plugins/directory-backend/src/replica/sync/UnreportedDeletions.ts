import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ReplicaTables } from '../tables/ReplicaTables';
import {
  expectServer,
  replicaKinds,
  type ReplicaKeys,
  type ReplicaPosition,
  type ReplicaSource,
} from './ReplicaSource';
import { forEachMissing } from './TableCheck';
import type { TableComparison } from './TableComparison';

/** Minimum interval between searches for the entries that carry new USNs. */
const ACCOUNT_INTERVAL_MS = 1000;

/** Maximum number of new USNs to look up. Above it, all keys are compared. */
const MAX_ACCOUNTED_USNS = 1000;

/**
 * Maximum share of the server's time for key comparisons. Together with the
 * searches for USNs, it stays below 5%.
 */
const MAX_SHARE = 0.045;

/** Maximum growth factor of the expected duration after a slower comparison. */
const MAX_GROWTH = 2;

/**
 * The first comparison takes up to twice as long: its code is not compiled yet.
 */
const COLD_FACTOR = 2;

/** Longer than a new entry takes to reach the replica. */
const SETTLING_MS = 3000;

/** Progress through the USNs of one epoch. */
interface Progress {
  /** Deletions up to this USN have been found. */
  comparedUsn: number;
  /** USNs up to this one have been searched for among the readable entries. */
  accountedUsn: number;
  /** The highest USN that is not carried by a readable entry. */
  unaccountedUsn: number;
  /**
   * The directory's USN one second ago: writes up to it are usually visible.
   */
  visibleUsn: number;
}

interface UnreportedDeletionsOptions {
  readonly source: Pick<ReplicaSource, 'listUsns' | 'readKeys'>;
  readonly comparison: TableComparison;
  readonly tables: ReplicaTables;
  readonly logger: LoggerService;
  /** Called when the directory has entries that the tables lack. */
  readonly onEntriesMissing: () => void;
}

/**
 * Finds entries that were deleted, or moved to where the account cannot read
 * them, without a change notification. `ipa user-del --preserve` is such a
 * move, for which 389 Directory Server sends no notification.
 *
 * Each write takes a USN, and an entry carries the USN of its last write. A USN
 * that is not carried by a readable entry may belong to such a move, so all
 * keys are compared. If unreadable entries (such as DNS records) are written
 * continuously, comparisons run continuously, in less than 5% of the server's
 * time.
 *
 * An entry that was temporarily unreadable is no longer in the tables, and its
 * return is not reported: the comparison finds its key.
 */
export class UnreportedDeletions {
  readonly #options: UnreportedDeletionsOptions;
  #progress: Progress | undefined;
  #isRunning = false;
  #hasFailed = false;
  #nextAccountAt = -Infinity;
  #nextCompareAt = -Infinity;
  /** Keys that the tables lacked after a comparison. */
  #missing: ReadonlySet<string> = new Set();
  /** Missing keys that were reported: some entries are never replicated. */
  #reported: ReadonlySet<string> = new Set();
  #reportMissingAt = Infinity;
  /** Expected duration of a comparison on an idle server, in milliseconds. */
  #comparisonMs: number | undefined;

  constructor(options: UnreportedDeletionsOptions) {
    this.#options = options;
  }

  /** Records that all keys were compared after this position. */
  reset({ usn = 0, committedUsn = 0 }: ReplicaPosition): void {
    this.#progress = {
      comparedUsn: committedUsn,
      accountedUsn: committedUsn,
      unaccountedUsn: committedUsn,
      visibleUsn: usn,
    };
  }

  /** Requests a comparison of keys. */
  request({ usn = 0 }: ReplicaPosition): void {
    if (this.#progress) {
      this.#progress.unaccountedUsn = usn;
    }
  }

  /** Starts to search for deletions in the background if that is due. */
  startIfDue(position: ReplicaPosition): void {
    const progress = this.#progress;
    const now = performance.now();
    if (now >= this.#reportMissingAt) {
      this.#reportMissing();
    }
    if (
      !progress ||
      this.#isRunning ||
      (now < this.#nextAccountAt && !this.#isComparisonDue(progress))
    ) {
      return;
    }
    this.#isRunning = true;
    this.#run(progress, position)
      .then(() => {
        this.#hasFailed = false;
      })
      .catch(error => {
        if (!this.#hasFailed && progress === this.#progress) {
          this.#options.logger.warn(
            `The replica cannot check for unreported deletions: ${stringifyError(
              error,
            )}`,
          );
        }
        this.#hasFailed = true;
      })
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #run(progress: Progress, position: ReplicaPosition): Promise<void> {
    const now = performance.now();
    if (now >= this.#nextAccountAt) {
      this.#nextAccountAt = now + ACCOUNT_INTERVAL_MS;
      await this.#account(progress, position);
    }
    if (this.#isComparisonDue(progress)) {
      await this.#compare(progress, position);
    }
  }

  /** Returns the keys of entries that the tables lack. */
  async #findMissing(listed: ReplicaKeys): Promise<ReadonlySet<string>> {
    const missing = new Set<string>();
    for (const kind of replicaKinds) {
      const table = this.#options.tables[kind];
      const present = { has: (key: string) => table.differs(key, undefined) };
      await forEachMissing(listed[kind], present, key => missing.add(key));
    }
    return missing;
  }

  /** Reports missing entries that a sync has not read in the meantime. */
  #reportMissing(): void {
    const { tables, onEntriesMissing } = this.#options;
    this.#reportMissingAt = Infinity;
    const missing = [...this.#missing].filter(key =>
      replicaKinds.every(kind => !tables[kind].differs(key, undefined)),
    );
    if (missing.some(key => !this.#reported.has(key))) {
      onEntriesMissing();
    }
    this.#reported = new Set(missing);
  }

  #isComparisonDue({ unaccountedUsn, comparedUsn }: Progress): boolean {
    return (
      unaccountedUsn > comparedUsn && performance.now() >= this.#nextCompareAt
    );
  }

  async #account(progress: Progress, position: ReplicaPosition): Promise<void> {
    const { accountedUsn, unaccountedUsn, visibleUsn } = progress;
    progress.accountedUsn = visibleUsn;
    progress.visibleUsn = position.usn ?? visibleUsn;
    if (visibleUsn === accountedUsn) {
      return;
    }
    // Unless the search succeeds, all keys are compared.
    progress.unaccountedUsn = visibleUsn;
    if (visibleUsn - accountedUsn <= MAX_ACCOUNTED_USNS) {
      const { source } = this.#options;
      const { server, usns } = await source.listUsns(accountedUsn + 1);
      expectServer({ server }, position);
      let usn = visibleUsn;
      while (usn > accountedUsn && usns.has(usn)) {
        usn--;
      }
      progress.unaccountedUsn = usn > accountedUsn ? usn : unaccountedUsn;
    }
  }

  async #compare(progress: Progress, position: ReplicaPosition): Promise<void> {
    const { source, comparison, logger } = this.#options;
    const startedAt = performance.now();
    const expectedMs = this.#comparisonMs;
    try {
      let listed: ReplicaKeys | undefined;
      const corrections = await comparison.run({
        server: position.server,
        read: async () => {
          listed = await source.readKeys();
          return listed;
        },
      });
      if (corrections && listed) {
        if (this.#reportMissingAt === Infinity) {
          this.#missing = await this.#findMissing(listed);
          this.#reportMissingAt = performance.now() + SETTLING_MS;
        }
        // A USN that is not committed may belong to a move that is not visible
        // yet, so it is compared again.
        progress.comparedUsn = position.committedUsn ?? 0;
        for (const [kind, count] of corrections) {
          logger.info(
            `Removed entries that the directory no longer returns: ${kind} ${count}`,
          );
        }
      }
      const tookMs = performance.now() - startedAt;
      this.#comparisonMs =
        expectedMs === undefined
          ? tookMs / COLD_FACTOR
          : Math.min(tookMs, expectedMs * MAX_GROWTH);
      this.#nextCompareAt = startedAt + this.#comparisonMs / MAX_SHARE;
    } catch (error) {
      const tookMs = performance.now() - startedAt;
      const costMs = Math.max(tookMs, expectedMs ?? 0);
      this.#nextCompareAt = startedAt + costMs / MAX_SHARE;
      throw error;
    }
  }
}
