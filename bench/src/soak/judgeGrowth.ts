import { trend } from './trend';

/** What is known of how a size goes on, in MiB an hour. */
export interface Growth {
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
  /** What it may be all the same. */
  readonly atMost: number;
  /**
   * - `flat`: if it grows at all, then by less than matters in a week
   * - `growing`: more than what scatters explains
   * - `open`: what scatters hides a growth that would matter
   */
  readonly kind: 'flat' | 'growing' | 'open';
}

/**
 * A GiB in a week: a portal is started again more often than that, and has
 * that much to spare.
 */
const MATTERS = 1024 / (7 * 24);
/** Standard errors within which a slope may be another. */
const ERRORS = 2;
const MINUTES_AN_HOUR = 60;

/**
 * Judges sizes of one minute each. Not finding a growth is not the same as
 * finding none: a few minutes that scatter show neither.
 *
 * @param sizes - in MiB
 * @returns `undefined` for fewer than three
 */
export function judgeGrowth(sizes: readonly number[]): Growth | undefined {
  const line = trend(sizes);
  if (!line) {
    return undefined;
  }
  const slope = line.slope * MINUTES_AN_HOUR;
  const error = line.error * MINUTES_AN_HOUR;
  const kind = slope > ERRORS * error ? 'growing' : 'open';
  const atMost = slope + ERRORS * error;
  return { slope, error, atMost, kind: atMost < MATTERS ? 'flat' : kind };
}
