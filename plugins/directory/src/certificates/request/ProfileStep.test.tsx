import { formatLifetime } from './ProfileStep';

describe('formatLifetime', () => {
  it.each([
    ['P30D', '30 days'],
    ['P365D', '1 year'],
    ['P400D', '400 days'],
    ['PT12H', '12 hours'],
    ['PT1M30S', '1 minute'],
    ['PT1S', '1 second'],
  ])('formats %s as “%s”', (duration, words) => {
    expect(formatLifetime(duration)).toBe(words);
  });
});
