import type { RecordableHistogram } from 'node:perf_hooks';

/** A percentile of a histogram of nanoseconds, in milliseconds. */
export function milliseconds(
  histogram: RecordableHistogram,
  percentile: number,
): number {
  return histogram.percentile(percentile) / 1e6;
}
