import { LRUCache } from 'lru-cache';
import type { Asking } from './LdapReader';
import type { UsnClock, UsnTime } from './UsnClock';

/** The records that were read while nothing was written. */
export interface QuietMoment<R> {
  /** What was read of an entry since the last write. */
  get(key: string): R | undefined;
  /** Keeps what a server has answered, if it is the one that is quiet. */
  keep(records: ReadonlyMap<string, R>, server: string): void;
}

/**
 * Records for as long as the directory writes nothing: what was read is what
 * would be read. One write, whatever it is about, and all are forgotten; a
 * directory in which something is always being written has no use for this,
 * and pays nothing for it.
 */
export class RecentRecords<R extends object> {
  readonly #clock: UsnClock;
  readonly #records: LRUCache<string, R> | undefined;
  #time: UsnTime | undefined;

  constructor(options: {
    readonly clock: UsnClock;
    /** Records kept at most, those used last; 0 keeps none. */
    readonly keptRecords: number;
  }) {
    this.#clock = options.clock;
    this.#records =
      options.keptRecords > 0
        ? new LRUCache({ max: options.keptRecords })
        : undefined;
  }

  /** Drops them all. */
  forget(): void {
    this.#records?.clear();
  }

  /**
   * What can be used now. While the directory is being written to, that is
   * nothing: a number may be counted before its write can be seen, so that the
   * old record and the new number meet.
   */
  async now(asking: Asking): Promise<QuietMoment<R> | undefined> {
    const kept = this.#records;
    if (!kept) {
      return undefined;
    }
    const time = await this.#clock.now(asking);
    if (!isSame(time, this.#time)) {
      kept.clear();
      this.#time = time;
    }
    if (time.usn === undefined || !time.isQuiet) {
      return undefined;
    }
    return {
      get: key => kept.get(key),
      keep: (records, server) => {
        // Another write may have come while these were being read.
        if (server === time.server && isSame(time, this.#time)) {
          for (const [key, record] of records) {
            kept.set(key, record);
          }
        }
      },
    };
  }
}

/** What was read before the last write had settled is not kept beyond that. */
function isSame(a: UsnTime, b: UsnTime | undefined): boolean {
  return (
    a.server === b?.server &&
    a.epoch === b.epoch &&
    a.usn === b.usn &&
    isSettled(a) === isSettled(b)
  );
}

function isSettled({ usn, committedUsn }: UsnTime): boolean {
  return usn === committedUsn;
}
