import { scaleTimeline } from './Timeline';

const now = new Date(2026, 2, 15);
const span = (start: Date, end: Date) => ({ start, end });

describe('scaleTimeline', () => {
  it.each([
    ['day', span(new Date(2026, 2, 10), new Date(2026, 3, 9))],
    ['month', span(new Date(2026, 0, 10), new Date(2027, 0, 10))],
    ['year', span(new Date(2020, 0, 1), new Date(2036, 0, 1))],
  ])('uses ticks of one %s', (unit, given) => {
    const scale = scaleTimeline([given], now);
    expect(scale.unit).toBe(unit);
    expect(scale.ticks.length).toBeGreaterThanOrEqual(3);
    expect(scale.ticks.length).toBeLessThanOrEqual(8);
    for (const { at } of scale.ticks) {
      expect(at).toBeGreaterThanOrEqual(0);
      expect(at).toBeLessThanOrEqual(100);
    }
  });

  it('contains all certificates and today', () => {
    const past = span(new Date(2019, 0, 1), new Date(2020, 0, 1));
    const future = span(new Date(2027, 0, 1), new Date(2028, 0, 1));
    const { at } = scaleTimeline([past, future], now);
    const places = [past.start, past.end, now, future.start, future.end].map(
      at,
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(places[4]).toBeLessThan(100);
  });
});
