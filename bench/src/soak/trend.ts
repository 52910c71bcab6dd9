/** A straight line through some points. */
export interface Trend {
  /** How much more a step brings. */
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
}

/** The least-squares line through values that are one step apart. */
export function trend(values: readonly number[]): Trend | undefined {
  const count = values.length;
  // With two points the line goes through both, whatever they are.
  if (count < 3) {
    return undefined;
  }
  const middle = (count - 1) / 2;
  const mean = sum(values) / count;
  const spread = sum(values.map((_, step) => (step - middle) ** 2));
  const slope =
    sum(values.map((value, step) => (step - middle) * (value - mean))) / spread;
  const residuals = values.map(
    (value, step) => value - mean - slope * (step - middle),
  );
  const variance = sum(residuals.map(rest => rest ** 2)) / (count - 2);
  return { slope, error: Math.sqrt(variance / spread) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
