import { checkGoal, percentile, ratioInterval } from './interval';

describe('ratioInterval', () => {
  it('has no width when every pair has the same ratio', () => {
    const pairs = [100, 250, 80].map(
      route => [0.4 * route, route] as [number, number],
    );
    const { ratio, margin } = ratioInterval(pairs);
    expect(ratio).toBeCloseTo(0.4, 10);
    expect(margin).toBeCloseTo(0, 10);
  });

  it('is computed with the quantile of Student', () => {
    // Differences of ±10 from the ratio 0.5: a standard deviation of 10.69,
    // with 7 degrees of freedom, whose quantile is 2.365.
    const pairs = [60, 40, 60, 40, 60, 40, 60, 40].map(
      rate => [rate, 100] as const,
    );
    const { ratio, margin } = ratioInterval(pairs);
    expect(ratio).toBe(0.5);
    expect(margin).toBeCloseTo((2.365 * 10.69) / Math.sqrt(8) / 100, 3);
  });

  it('does not depend on the speed of the machine', () => {
    const pairs = [
      [60, 90],
      [40, 110],
      [50, 95],
    ] as const;
    const expected = ratioInterval(pairs);
    const faster = pairs.map(([rate, of]) => [7 * rate, 7 * of] as const);
    const { ratio, margin } = ratioInterval(faster);
    expect(ratio).toBeCloseTo(expected.ratio, 10);
    expect(margin).toBeCloseTo(expected.margin, 10);
  });

  it('contains the true ratio in about 95 of 100 measurements', () => {
    // A linear congruential generator, so that each run is the same.
    let state = 1;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const normal = () =>
      Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const measurements = 2000;
    let contained = 0;
    for (let count = 0; count < measurements; count++) {
      const { ratio, margin } = ratioInterval(
        Array.from({ length: 8 }, () => {
          const speed = 1000 + 100 * normal();
          return [0.6 * speed + 50 * normal(), speed + 50 * normal()] as const;
        }),
      );
      contained += Math.abs(ratio - 0.6) <= margin ? 1 : 0;
    }
    expect(contained / measurements).toBeGreaterThan(0.93);
    expect(contained / measurements).toBeLessThan(0.97);
  });
});

describe('checkGoal', () => {
  it.each([
    [0.7, 0.05, 'met'],
    [0.65, 0.05, 'met'],
    [0.64, 0.05, 'undecided'],
    [0.56, 0.05, 'undecided'],
    [0.54, 0.05, 'missed'],
    [0.9, Infinity, 'undecided'],
  ] as const)('compares %d ± %d with 0.6: %s', (ratio, margin, verdict) => {
    expect(checkGoal({ ratio, margin }, 0.6)).toBe(verdict);
  });
});

describe('percentile', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);

  it.each([
    [50, 50],
    [99, 99],
    [100, 100],
  ])('returns the nearest rank of %d %%', (percent, expected) => {
    expect(percentile(values, percent)).toBe(expected);
  });

  it('is undefined without values', () => {
    expect(percentile([], 50)).toBeUndefined();
  });
});
