import fc from 'fast-check';
import { DAY_MS, findDueReminder } from './reminder';

const daysBefore = [1, 7, 14, 30];
const notAfter = new Date('2026-12-31T12:00:00Z');

/** The step that is due with so many days left of a life of so many days. */
function stepOf(left: number, life = 365): number | undefined {
  const notBefore = new Date(notAfter.getTime() - life * DAY_MS);
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
  ])('with %p days left is the step of %p', (left, step) => {
    expect(stepOf(left)).toBe(step);
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
    'of a life of %p days with %p left is the step of %p',
    (life, left, step) => {
      expect(stepOf(left, life)).toBe(step);
    },
  );

  it('is never a step that is further away than another that has passed', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 60, noNaN: true }), left => {
        const passed = daysBefore.filter(days => left <= days);
        expect(stepOf(left)).toBe(passed.length > 0 ? passed[0] : undefined);
      }),
    );
  });
});
