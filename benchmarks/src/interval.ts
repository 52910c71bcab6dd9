/** Ratio of two rates, with its 95 % confidence interval. */
export interface RatioInterval {
  readonly ratio: number;
  /** Half the width of the interval. */
  readonly margin: number;
}

/**
 * Computes the ratio of two means from at least two pairs of values that were
 * measured in turn: other work on the machine affects both values of a pair.
 */
export function ratioInterval(
  pairs: readonly (readonly [numerator: number, denominator: number])[],
): RatioInterval {
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const denominator = sum(pairs.map(([, of]) => of));
  const ratio = sum(pairs.map(([value]) => value)) / denominator;
  const freedom = pairs.length - 1;
  const squares = sum(pairs.map(([value, of]) => (value - ratio * of) ** 2));
  // Quantile of Student's distribution, within 1 % from 5 pairs on
  // (Abramowitz and Stegun, 26.7.5).
  const quantile = 1.96 + 2.372 / freedom + 2.823 / freedom ** 2;
  const margin =
    (quantile * Math.sqrt((squares / freedom) * pairs.length)) / denominator;
  return { ratio, margin };
}

/**
 * Compares the interval with a minimum of the ratio: `undecided` when the
 * minimum is within the interval.
 */
export function checkGoal(
  { ratio, margin }: RatioInterval,
  minimum: number,
): 'met' | 'missed' | 'undecided' {
  if (ratio - margin >= minimum) {
    return 'met';
  }
  return ratio + margin < minimum ? 'missed' : 'undecided';
}

/** Returns the nearest-rank percentile, or `undefined` without values. */
export function percentile(
  values: readonly number[],
  percent: number,
): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1];
}
