import {
  formatTime,
  isWorkingTime,
  knownTimeZone,
  nextSharedPeriod,
  offsetMinutes,
  placeOf,
  startOfDay,
  workingPeriods,
} from './timeZones';

const text = (date: Date) => date.toISOString().slice(0, 16);

/** Returns the shared period as text, in UTC. */
function shared(own: string, other: string, now: string) {
  const period = nextSharedPeriod(own, other, new Date(now));
  return period && [period.start, period.end].map(text);
}

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

describe('nextSharedPeriod', () => {
  it.each([
    // Saturday in New York: 15:00 to 17:00 in Paris on Monday.
    [
      'Europe/Paris',
      'America/New_York',
      '2026-01-17T12:00Z',
      '2026-01-19T14:00',
      '2026-01-19T16:00',
    ],
    // The United States switches to DST three weeks earlier.
    [
      'Europe/Paris',
      'America/New_York',
      '2026-03-16T12:00Z',
      '2026-03-16T13:00',
      '2026-03-16T16:00',
    ],
    [
      'Europe/Paris',
      'Asia/Kolkata',
      '2026-01-15T00:00Z',
      '2026-01-15T08:00',
      '2026-01-15T11:30',
    ],
    [
      'Europe/Paris',
      'Europe/Paris',
      '2026-01-15T08:00Z',
      '2026-01-15T08:00',
      '2026-01-15T16:00',
    ],
    // A period in progress starts now.
    [
      'UTC',
      'Europe/Paris',
      '2026-01-15T10:07Z',
      '2026-01-15T10:07',
      '2026-01-15T16:00',
    ],
    // Friday in Auckland is still Thursday in Los Angeles.
    [
      'America/Los_Angeles',
      'Pacific/Auckland',
      '2026-01-15T12:00Z',
      '2026-01-15T20:00',
      '2026-01-16T01:00',
    ],
  ])('of %s and %s after %s', (own, other, now, start, end) => {
    expect(shared(own, other, now)).toEqual([start, end]);
  });

  it('is undefined when the time zones share no working hours', () => {
    expect(
      shared('UTC', 'Pacific/Auckland', '2026-01-15T12:00Z'),
    ).toBeUndefined();
  });
});

describe('workingPeriods', () => {
  it('returns the end of one working day and the start of the next', () => {
    const from = new Date('2026-01-15T00:00Z');
    const to = new Date('2026-01-16T00:00Z');
    const timeZones = ['Pacific/Auckland'];
    expect(
      workingPeriods({ timeZones, from, to }).map(({ start, end }) => [
        text(start),
        text(end),
      ]),
    ).toEqual([
      ['2026-01-15T00:00', '2026-01-15T04:00'],
      ['2026-01-15T20:00', '2026-01-16T00:00'],
    ]);
  });
});

describe('startOfDay', () => {
  it.each([
    ['Asia/Kolkata', '2026-01-15T20:00Z', '2026-01-15T18:30'],
    ['Europe/Paris', '2026-03-29T12:00Z', '2026-03-28T23:00'], // starts DST
    ['Europe/Paris', '2026-10-25T12:00Z', '2026-10-24T22:00'], // ends DST
  ])('in %s at %s', (timeZone, moment, expected) => {
    expect(text(startOfDay(new Date(moment), timeZone))).toBe(expected);
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
