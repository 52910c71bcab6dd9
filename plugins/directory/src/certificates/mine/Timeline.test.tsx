import { renderInTestApp } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import { certificate } from '../../__testUtils__/certificates';
import { scaleTimeline, Timeline } from './Timeline';

const now = new Date(2026, 2, 15);
const span = (start: Date, end: Date) => ({ start, end });

describe('scaleTimeline', () => {
  it.each([
    ['day', span(new Date(2026, 2, 10), new Date(2026, 3, 9))],
    ['month', span(new Date(2026, 0, 10), new Date(2027, 0, 10))],
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

  it('covers the certificates and today', () => {
    const past = span(new Date(2026, 0, 1), new Date(2026, 1, 1));
    const future = span(new Date(2026, 5, 1), new Date(2027, 2, 1));
    const { at } = scaleTimeline([past, future], now);
    const places = [past.start, past.end, now, future.start, future.end].map(
      at,
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(places[4]).toBeLessThan(100);
  });

  it('covers at most about 15 months', () => {
    const decades = span(new Date(2020, 0, 1), new Date(2050, 0, 1));
    const { at, unit } = scaleTimeline([decades], now);
    expect(unit).toBe('month');
    expect(at(decades.start)).toBeLessThan(0);
    expect(at(decades.end)).toBeGreaterThan(100);
    expect(at(new Date(2025, 11, 15))).toBeGreaterThan(0);
    expect(at(new Date(2025, 10, 15))).toBeLessThan(0);
    expect(at(new Date(2027, 2, 15))).toBeLessThan(100);
    expect(at(new Date(2027, 4, 15))).toBeGreaterThan(100);
  });
});

describe('Timeline', () => {
  it('shows arrows at the clamped ends, and names certificates by purpose and label', async () => {
    const rfc = (date: Date) => date.toUTCString().replace('GMT', '-0000');
    const { container } = renderInTestApp(
      <Timeline
        now={now}
        certificates={[
          certificate({
            valid_not_before: rfc(new Date(2020, 0, 1)),
            valid_not_after: rfc(new Date(2050, 0, 1)),
          }),
          certificate({
            sha256_fingerprint: '02',
            label: 'laptop',
            valid_not_before: rfc(new Date(2026, 1, 1)),
            valid_not_after: rfc(new Date(2026, 5, 1)),
          }),
        ]}
      />,
    );
    await screen.findByText('laptop');
    const bars = [...container.querySelectorAll('.bar')];
    expect(
      bars.map(bar =>
        ['data-from', 'data-until'].map(at => bar.hasAttribute(at)),
      ),
    ).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(container).toHaveTextContent('Signing in to servers and websites');
    expect(container).toHaveTextContent('laptop');
  });
});
