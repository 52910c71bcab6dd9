import type { ReplicaTime } from './ReplicaSource';

/** Longer than a write takes on a directory that is overloaded. */
const LATEST_MS = 20_000;

/** Seldom: what is written meanwhile waits until all that has been read. */
const CHECK_MS = 10_000;

/**
 * Finds writes that were long on their way. A directory counts a write when it
 * begins, and shows it when it ends; one that takes longer than two seconds is
 * settled for the clock before it can be read. So all that was counted in the
 * last twenty seconds is read once more every ten.
 */
export class LateWrites {
  #era: number | undefined;
  #times: { readonly usn: number; readonly askedAt: number }[] = [];
  #checkedAt = -Infinity;

  /**
   * Tells of a look at the directory.
   *
   * @returns the number after which changes are to be read again; `undefined`:
   *   nothing that could be late was written, or it was read a moment ago
   */
  dueAt({ era, usn, askedAt }: ReplicaTime): number | undefined {
    if (usn === undefined) {
      return undefined;
    }
    if (era !== this.#era) {
      this.#era = era;
      this.#times = [];
      this.#checkedAt = askedAt;
    }
    const oldest = this.#times.findLastIndex(
      time => time.askedAt <= askedAt - LATEST_MS,
    );
    this.#times = [...this.#times.slice(Math.max(oldest, 0)), { usn, askedAt }];
    const [first] = this.#times;
    if (first.usn === usn || askedAt - this.#checkedAt < CHECK_MS) {
      return undefined;
    }
    this.#checkedAt = askedAt;
    return first.usn;
  }
}
