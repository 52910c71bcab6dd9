import { trend } from './trend';

describe('trend', () => {
  it('is the slope of a straight line, without an error', () => {
    const line = trend([10, 12, 14, 16])!;
    expect(line.slope).toBeCloseTo(2);
    expect(line.error).toBeCloseTo(0);
  });

  it('is the least-squares line through what scatters', () => {
    // By hand: slope 0.6, residuals −0.2, 0.2, 0.6, −1, 0.4; sum of squares
    // 1.6, over 3 degrees of freedom and a spread of 10.
    const line = trend([1, 2, 3, 2, 4])!;
    expect(line.slope).toBeCloseTo(0.6);
    expect(line.error).toBeCloseTo(Math.sqrt(1.6 / 3 / 10));
  });

  it('is nothing for two values, through which every line goes', () => {
    expect(trend([1, 2])).toBeUndefined();
  });
});
