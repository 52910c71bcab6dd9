import fc from 'fast-check';
import { DAY_MS, findDueReminder } from './reminder';

const daysBefore = [1, 7, 14, 30];
const notAfter = new Date('2026-12-31T12:00:00Z');

/** Returns the reminder that is due this many days before expiry. */
function dueOf(left: number, validity = 365): number | undefined {
  const notBefore = new Date(notAfter.getTime() - validity * DAY_MS);
  const now = notAfter.getTime() - left * DAY_MS;
  const certificate = { serialNumber: 1n, username: 'alice' };
  return findDueReminder(
    { ...certificate, notBefore, notAfter },
    { now, daysBefore },
  )?.daysBefore;
}

describe('findDueReminder', () => {
  it.each([
    [31, undefined],
    [30.01, undefined],
    [30, 30],
    [14.01, 30],
    [14, 14],
    [7.01, 14],
    [7, 7],
    [1.01, 7],
    [1, 1],
    [0.01, 1],
    [0, undefined],
    [-1, undefined],
  ])('%p days before expiry, returns %p', (left, due) => {
    expect(dueOf(left)).toBe(due);
  });

  it.each([
    [30, 30, undefined],
    [30, 29.9, undefined],
    [30, 14, 14],
    [31, 30, 30],
    [8, 7, 7],
    [7.9, 7, undefined],
    [2, 1, 1],
    [1, 0.5, undefined],
  ])(
    'with a validity of %p days, %p days before expiry, returns %p',
    (validity, left, due) => {
      expect(dueOf(left, validity)).toBe(due);
    },
  );

  it('returns the reminder closest to expiry', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 60, noNaN: true }), left => {
        const passed = daysBefore.filter(days => left <= days);
        expect(dueOf(left)).toBe(passed.length > 0 ? passed[0] : undefined);
      }),
    );
  });
});
