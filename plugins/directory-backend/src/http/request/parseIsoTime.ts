import { DateTime } from 'luxon';

/** Luxon would also accept years of six digits, the year 0 and 24:00. */
const DATE =
  /^(?!0000)\d{4}(?:-?(?:\d\d(?:-?\d\d)?|W\d\d(?:-?[1-7])?|\d{3}))?$/;
const TIME =
  /^(?:[01]\d|2[0-3])(?::?[0-5]\d(?::?[0-5]\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Parses an ISO 8601 date, week date or ordinal date, alone or followed by `T`
 * and a time. Times without a zone are UTC, as the API's `creation` is.
 * `undefined` when the text is none of these.
 */
export function parseIsoTime(text: string): Date | undefined {
  const [date, ...times] = text.split('T');
  // A `+` of a zone that was not percent-encoded arrives as a space.
  const [time = '00'] = times.map(part => part.replace(' ', '+'));
  if (!DATE.test(date) || !TIME.test(time) || times.length > 1) {
    return undefined;
  }
  const milliseconds = time.replace(/([.,]\d{3})\d+/, '$1');
  const parsed = DateTime.fromISO(`${date}T${milliseconds}`, { zone: 'utc' });
  return parsed.isValid ? parsed.toJSDate() : undefined;
}
