import { fromDate } from '@internationalized/date';
import {
  formatTime,
  isWorkingTime,
  knownTimeZone,
  minutesAhead,
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
  ])('in %s at %s is %s', (timeZone, moment, expected) => {
    expect(isWorkingTime(fromDate(new Date(moment), timeZone))).toBe(expected);
  });
});

describe('formatTime', () => {
  it('contains the weekday only when it differs', () => {
    const timeAt = (moment: string) =>
      formatTime(
        fromDate(new Date(moment), 'Pacific/Auckland'),
        fromDate(new Date(moment), 'Europe/Paris'),
      );
    expect(timeAt('2026-01-15T08:00Z')).toBe('9:00 PM');
    expect(timeAt('2026-01-15T12:00Z')).toBe('Fri 1:00 AM');
  });
});

describe('placeOf', () => {
  it.each([
    ['America/New_York', 'New York'],
    ['America/Argentina/Buenos_Aires', 'Buenos Aires'],
    ['UTC', 'UTC'],
    ['Etc/GMT+5', 'UTC−5h'], // POSIX: west of Greenwich
  ])('of %s is %s', (timeZone, place) => {
    expect(placeOf(fromDate(new Date(), timeZone))).toBe(place);
  });
});

describe('minutesAhead', () => {
  it.each([
    ['Asia/Kolkata', '2026-01-15T12:00Z', 270],
    ['Asia/Kolkata', '2026-07-15T12:00Z', 210],
    ['America/St_Johns', '2026-01-15T12:00Z', -270],
  ])('of %s and Paris at %s is %i', (timeZone, moment, minutes) => {
    const now = new Date(moment);
    expect(
      minutesAhead(fromDate(now, timeZone), fromDate(now, 'Europe/Paris')),
    ).toBe(minutes);
  });
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
