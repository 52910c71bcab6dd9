import { mebibytes, time } from '../table/numbers';
import type { Difference } from './AnswerComparison';
import { judgeGrowth, type Growth } from './judgeGrowth';
import type { SoakMinute, SoakResult } from './runSoak';
import type { Tally } from './Tally';

/** Wrong answers that are told in full. */
const TOLD = 20;
/** The share of the minutes in which memory is still being taken. */
const WARM_UP = 0.2;
/** Hours of a week. */
const WEEK = 7 * 24;

/** One line a minute. */
export function formatMinute(
  { rssBytes, usedBytes, eventLoopDelayMs }: SoakMinute,
  { tally, writes, minutes }: SoakResult,
): string {
  return [
    `minute ${minutes.length}: ${tally.requests} requests`,
    `${tally.compared} compared, ${tally.proven} of them with LDAP`,
    `${tally.wrong.length} wrong`,
    `${lateness(tally, 'late')} late`,
    `${lateness(tally, 'ahead')} ahead`,
    `${lateness(tally, 'directLate')} direct late`,
    `${tally.count('undecided')} undecided`,
    `${tally.serverErrors.length} 5xx`,
    `${writes} writes`,
    `RSS ${mebibytes(rssBytes)} MiB`,
    `used ${(usedBytes / 2 ** 20).toFixed(1)} MiB`,
    `loop p99 ${time(eventLoopDelayMs)} ms`,
  ].join(', ');
}

/** What a whole soak came to. */
export function formatSoak({ tally, writes, minutes }: SoakResult): string {
  const complaints = [...tally.wrong, ...tally.serverErrors];
  return [
    `${tally.requests} requests to the copy, ${tally.compared} compared with direct reads, ${tally.proven} of them with LDAP as well, ${writes} writes in ${minutes.length} minutes`,
    `${tally.wrong.length} wrong answers, ${tally.serverErrors.length} answers of 5xx`,
    `${lateness(
      tally,
      'late',
    )} answers of the copy were late, and right within a second of the last write`,
    `${lateness(
      tally,
      'ahead',
    )} answers of direct reads were late, and right by then`,
    `${lateness(
      tally,
      'directLate',
    )} answers of direct reads were not right by then, where the copy was`,
    `${tally.count('undecided')} differences could not be decided`,
    `event loop p99, the worst minute: ${time(
      Math.max(...minutes.map(({ eventLoopDelayMs }) => eventLoopDelayMs)),
    )} ms`,
    `in use after collection ${goesOn(
      minutes.map(({ usedBytes }) => usedBytes),
    )}`,
    `RSS after collection ${goesOn(minutes.map(({ rssBytes }) => rssBytes))}`,
    ...complaints.slice(0, TOLD).map(text => `  ${text}`),
  ].join('\n');
}

/** How many, and the longest that is known. */
function lateness(tally: Tally, kind: Difference['kind']): string {
  const count = tally.count(kind);
  return count > 0
    ? `${count} (${time(tally.longestMs(kind))} ms at most)`
    : '0';
}

/** How a size went on after the first minutes. */
function goesOn(sizes: readonly number[]): string {
  const later = sizes.slice(Math.floor(sizes.length * WARM_UP));
  const range = `${mebibytes(Math.min(...later))} to ${mebibytes(
    Math.max(...later),
  )} MiB`;
  const growth = judgeGrowth(later.map(bytes => bytes / 2 ** 20));
  return growth
    ? `${range}, ${growth.slope.toFixed(1)} ± ${growth.error.toFixed(
        1,
      )} MiB an hour: ${inWords(growth)}`
    : range;
}

function inWords({ kind, slope, atMost }: Growth): string {
  switch (kind) {
    case 'flat':
      return 'flat, less than a GiB in a week';
    case 'growing':
      return `growing, ${((slope * WEEK) / 1024).toFixed(
        1,
      )} GiB in a week if it went on`;
    default:
      return `open, up to ${atMost.toFixed(1)} MiB an hour is not ruled out`;
  }
}
