import type { LoggerService } from '@backstage/backend-plugin-api';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CertificateOwner, keysOf } from './certificateRows';
import type { CertificateRecords } from './CertificateRecords';
import type { Reservations } from './Reservations';

/** Interval between two polls, in milliseconds. */
const POLL_MS = 1000;

/** Interval between two complete reads, in milliseconds. */
const REFRESH_MS = 60_000;

/**
 * Time by which each poll overlaps the last one, in milliseconds: a transaction
 * may commit after later ones.
 */
const OVERLAP_MS = 30_000;

/** Age of the last poll from which every account is queried, in milliseconds. */
const MAX_AGE_MS = 10_000;

/**
 * The accounts that have certificates, so that no other account needs a query.
 * The set is complete after each refresh; the polls between them add the
 * accounts of all processes, and this process adds its own at once. Accounts
 * without certificates remain until the next refresh.
 */
export class CertificateOwners {
  readonly #records: Pick<CertificateRecords, 'listOwners'>;
  readonly #authorities: () => readonly string[];
  readonly #logger: LoggerService;
  readonly #now: () => number;
  #keys = new Set<string>();
  /** Accounts that this process has added since the last refresh began. */
  #added = new Set<string>();
  #refreshedAt = -Infinity;
  #polledAt = -Infinity;
  readonly #stopped = new AbortController();

  /**
   * @param options - `authorities`: returns the CAs whose certificates are
   *   listed; `now`: returns milliseconds since 1970. Default: the system clock.
   */
  constructor(options: {
    readonly records: Pick<CertificateRecords, 'listOwners'>;
    readonly reservations: Pick<Reservations, 'onRecorded'>;
    readonly authorities: () => readonly string[];
    readonly logger: LoggerService;
    readonly now?: () => number;
  }) {
    this.#records = options.records;
    this.#authorities = options.authorities;
    this.#logger = options.logger;
    this.#now = options.now ?? Date.now;
    options.reservations.onRecorded(({ username, stableId }) => {
      this.#keys.add(stableId ?? username);
      this.#added.add(stableId ?? username);
    });
  }

  /** Polls until `stop`. */
  async start(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.poll().catch(error =>
        this.#logger.warn(`Users with certificates were not read: ${error}`),
      );
      await sleep(POLL_MS, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Stops polling. */
  stop(): void {
    this.#stopped.abort();
  }

  /**
   * Reads the accounts of new certificates, and every minute those of all.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async poll(): Promise<void> {
    const now = this.#now();
    const authorities = this.#authorities();
    const isComplete = now - this.#refreshedAt >= REFRESH_MS;
    if (isComplete) {
      this.#added = new Set();
    }
    if (authorities.length > 0) {
      const keys = await this.#records.listOwners({
        authorities,
        recordedSince: isComplete
          ? new Date(0)
          : new Date(this.#polledAt - OVERLAP_MS),
      });
      const kept = isComplete ? this.#added : this.#keys;
      this.#keys = new Set([...kept, ...keys]);
    }
    this.#refreshedAt = isComplete ? now : this.#refreshedAt;
    this.#polledAt = now;
  }

  /** Returns whether an account may have certificates. */
  has(owner: CertificateOwner): boolean {
    const isCurrent = this.#now() - this.#polledAt <= MAX_AGE_MS;
    return !isCurrent || keysOf(owner).some(key => this.#keys.has(key));
  }
}
