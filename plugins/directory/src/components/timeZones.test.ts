import {
  formatTime,
  isWorkingTime,
  knownTimeZone,
  offsetMinutes,
  placeOf,
} from './timeZones';

describe('isWorkingTime', () => {
  it.each([
    ['Europe/Paris', '2026-01-15T08:00Z', true],
    ['Europe/Paris', '2026-01-15T07:59Z', false],
    ['Europe/Paris', '2026-01-15T16:00Z', false],
    ['Europe/Paris', '2026-07-15T07:00Z', true], // DST
    ['Europe/Paris', '2026-01-17T10:00Z', false], // Saturday
    ['Asia/Kolkata', '2026-01-15T03:30Z', true],
    ['Pacific/Auckland', '2026-01-18T21:00Z', true], // Monday there
    ['Nowhere/Atlantis', '2026-01-15T12:00Z', false],
  ])('in %s at %s is %s', (timeZone, moment, expected) => {
    expect(isWorkingTime(new Date(moment), timeZone)).toBe(expected);
  });
});

describe('formatTime', () => {
  it('contains the weekday only when it differs', () => {
    const zones = ['Pacific/Auckland', 'Europe/Paris'] as const;
    const morning = new Date('2026-01-15T08:00Z');
    const noon = new Date('2026-01-15T12:00Z');
    expect(formatTime(morning, ...zones)).toBe('9:00 PM');
    expect(formatTime(noon, ...zones)).toBe('Fri 1:00 AM');
  });
});

describe('placeOf', () => {
  it.each([
    ['America/New_York', 'New York'],
    ['America/Argentina/Buenos_Aires', 'Buenos Aires'],
    ['UTC', 'UTC'],
    ['Etc/GMT+5', 'UTC−5h'], // POSIX: west of Greenwich
  ])('of %s is %s', (timeZone, place) => {
    expect(placeOf(timeZone)).toBe(place);
  });
});

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

describe('knownTimeZone', () => {
  it.each([
    ['Europe/Paris', 'Europe/Paris'],
    ['Mars/Olympus_Mons', undefined],
    ['', undefined],
    [null, undefined],
  ])('of %j is %j', (timeZone, known) => {
    expect(knownTimeZone(timeZone)).toBe(known);
  });
});
