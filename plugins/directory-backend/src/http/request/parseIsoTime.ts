import { DateTime } from 'luxon';

/** A century, a year, or a date; Luxon would also accept the year 0. */
const DATE =
  /^(?!0000|00$)\d\d(?:\d\d(?:-?(?:\d\d(?:-?\d\d)?|W\d\d(?:-?[1-7])?|\d{3}))?)?$/;

/** A time, whose last part can have a fraction, and a zone. */
const TIME =
  /^(\d\d)(?::?([0-5]\d)(?::?([0-5]\d))?)?(?:[.,](\d+))?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Digits of a fraction with which a product in milliseconds is exact. */
const DIGITS = 9;

/**
 * Parses an ISO 8601 date, week date or ordinal date, alone or followed by `T`
 * and a time. Times without a zone are UTC, as the API's `creation` is.
 * `undefined` when the text is none of these.
 */
export function parseIsoTime(text: string): Date | undefined {
  const [date, ...times] = text.split('T');
  // A `+` of a zone that was not percent-encoded arrives as a space.
  const [time = '00'] = times.map(part => part.replace(' ', '+'));
  const sinceMidnight = parseTime(time);
  if (!DATE.test(date) || sinceMidnight === undefined || times.length > 1) {
    return undefined;
  }
  const midnight = DateTime.fromISO(date.padEnd(4, '0'), { zone: 'utc' });
  return midnight.isValid
    ? new Date(midnight.toMillis() + sinceMidnight)
    : undefined;
}

/** Returns the milliseconds from midnight UTC to a time. */
function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (!match) {
    return undefined;
  }
  const [, hours, minutes, seconds, fraction = '', sign] = match;
  const [offsetHours = '0', offsetMinutes = '0'] = match.slice(6);
  const digits = fraction.slice(0, DIGITS).padEnd(DIGITS, '0');
  const lastPartMs = minutes ? MINUTE_MS : HOUR_MS;
  const unitMs = seconds ? 1000 : lastPartMs;
  const time =
    Number(hours) * HOUR_MS +
    Number(minutes ?? 0) * MINUTE_MS +
    Number(seconds ?? 0) * 1000 +
    Math.floor((Number(digits) * unitMs) / 10 ** DIGITS);
  const offset =
    Number(offsetHours) * HOUR_MS + Number(offsetMinutes) * MINUTE_MS;
  // 24:00 is the end of the day.
  return time <= DAY_MS ? time - (sign === '-' ? -offset : offset) : undefined;
}
