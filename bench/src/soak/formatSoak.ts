import { mebibytes, time } from '../table/numbers';
import type { SoakMinute, SoakResult } from './runSoak';
import { trend } from './trend';

/** Wrong answers that are told in full. */
const TOLD = 20;
/** The share of the minutes in which memory is still being taken. */
const WARM_UP = 0.2;
/** Standard errors within which a slope is none. */
const ERRORS = 2;
/** Minutes of an hour. */
const HOUR = 60;

/** One line a minute. */
export function formatMinute(
  { rssBytes, usedBytes, eventLoopDelayMs }: SoakMinute,
  { tally, writes, minutes }: SoakResult,
): string {
  return [
    `minute ${minutes.length}: ${tally.requests} requests`,
    `${tally.compared} compared`,
    `${tally.late} late (${time(tally.latestMs)} ms at most), ${
      tally.ahead
    } ahead, ${tally.lateLists} lists late, ${tally.undecided} undecided`,
    `${tally.wrong.length} wrong`,
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
    `${tally.requests} requests to the copy, ${tally.compared} compared with direct reads, ${writes} writes in ${minutes.length} minutes`,
    `${tally.wrong.length} wrong answers, ${tally.serverErrors.length} answers of 5xx`,
    `${tally.late} answers by name were older than the directory's, for ${time(
      tally.latestMs,
    )} ms at most; ${tally.ahead} were newer`,
    `${tally.lateLists} lists agreed only when asked again; ${tally.undecided} differed while direct reads may still show who is gone`,
    `event loop p99, the worst minute: ${time(
      Math.max(...minutes.map(({ eventLoopDelayMs }) => eventLoopDelayMs)),
    )} ms`,
    `RSS ${growth(minutes.map(({ rssBytes }) => rssBytes))}`,
    `used ${growth(minutes.map(({ usedBytes }) => usedBytes))}`,
    ...complaints.slice(0, TOLD).map(text => `  ${text}`),
  ].join('\n');
}

/** How a size went on after the first minutes. */
function growth(sizes: readonly number[]): string {
  const later = sizes.slice(Math.floor(sizes.length * WARM_UP));
  const line = trend(later.map(bytes => bytes / 2 ** 20));
  const range = `${mebibytes(Math.min(...later))} to ${mebibytes(
    Math.max(...later),
  )} MiB`;
  if (!line) {
    return range;
  }
  const slope = (line.slope * HOUR).toFixed(1);
  const error = (line.error * HOUR).toFixed(1);
  const isFlat = line.slope <= ERRORS * line.error;
  return `${range}, ${slope} ± ${error} MiB an hour: ${
    isFlat ? 'flat' : 'growing'
  }`;
}
