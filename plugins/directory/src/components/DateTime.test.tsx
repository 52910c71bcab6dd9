import { offsetMinutes } from './DateTime';

const winter = new Date('2026-01-15T12:00:00Z');
const summer = new Date('2026-07-15T12:00:00Z');

describe('offsetMinutes', () => {
  it.each([
    ['UTC', winter, 0],
    ['Europe/Paris', winter, 60],
    ['Europe/Paris', summer, 120],
    ['Asia/Kolkata', summer, 330],
    ['America/St_Johns', winter, -210],
    ['Pacific/Kiritimati', winter, 840],
  ])('returns the offset of %s', (timeZone, moment, minutes) => {
    expect(offsetMinutes(timeZone, moment)).toBe(minutes);
  });

  it.each(['', 'Nowhere/Atlantis', 'Mars'])(
    'returns undefined for %j',
    timeZone => {
      expect(offsetMinutes(timeZone, winter)).toBeUndefined();
    },
  );
});
