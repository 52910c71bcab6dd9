/** Digits in proportion: nobody reads the third one of a rate. */
export function whole(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
}

/** Milliseconds. */
export function time(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0);
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** A cell is empty where there is no such thing. */
export function orNothing(
  value: number | null | undefined,
  format: (value: number) => string,
): string {
  return value === null || value === undefined ? '' : format(value);
}

/** What is said of a goal behind what was reached. */
export function verdict(goal: string, isMet: boolean): string {
  return `${goal} ${isMet ? 'met' : 'missed'}`;
}
