import {
  fromDate,
  isSameDay,
  isWeekday,
  type ZonedDateTime,
} from '@internationalized/date';
import { locale } from '../language';

const START_HOUR = 9;
const END_HOUR = 17;

/**
 * Returns a given time in a time zone; `undefined` for a zone that the browser
 * does not know. The directory accepts any text as a time zone.
 */
export function timeIn(
  timeZone: string,
  moment: Date,
): ZonedDateTime | undefined {
  try {
    return fromDate(moment, timeZone);
  } catch {
    return undefined;
  }
}

/** Returns a time zone of the directory if the browser knows it. */
export function knownTimeZone(timeZone: string | null): string | undefined {
  return timeZone && timeIn(timeZone, new Date()) ? timeZone : undefined;
}

/**
 * Returns how far a time zone is ahead of another one at the same time, in
 * minutes; negative if it is behind.
 */
export function minutesAhead(
  time: ZonedDateTime,
  other: ZonedDateTime,
): number {
  return Math.round((time.offset - other.offset) / 60_000);
}

/**
 * Returns the time of day, such as "20:53"; with the weekday, as in "Sat
 * 20:53", if the date differs from that in the other time zone.
 */
export function formatTime(time: ZonedDateTime, other: ZonedDateTime): string {
  const options: Intl.DateTimeFormatOptions = isSameDay(time, other)
    ? { timeStyle: 'short' }
    : { weekday: 'short', hour: 'numeric', minute: '2-digit' };
  return time
    .toDate()
    .toLocaleString(locale(), { timeZone: time.timeZone, ...options });
}

/**
 * Returns the city of a time zone, such as "New York"; the zone if it has none.
 */
export function placeOf({ timeZone, offset }: ZonedDateTime): string {
  return /^Etc\/GMT[+-]/i.test(timeZone)
    ? `UTC${formatDifference(offset / 60_000)}`
    : timeZone.slice(timeZone.lastIndexOf('/') + 1).replaceAll('_', ' ');
}

/** Returns, for example, "−6h" or "+5h 30m" in the user's language. */
export function formatDifference(minutes: number): string {
  return `${minutes < 0 ? '−' : '+'}${formatHours(minutes, 'narrow')}`;
}

/**
 * Returns a time difference without its sign, for example "6h" or "6 hours" in
 * the user's language.
 */
export function formatHours(
  minutes: number,
  unitDisplay: 'narrow' | 'long',
): string {
  const unit = (value: number, name: 'hour' | 'minute') =>
    value.toLocaleString(locale(), { style: 'unit', unit: name, unitDisplay });
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return [
    ...(hours ? [unit(hours, 'hour')] : []),
    ...(rest ? [unit(rest, 'minute')] : []),
  ].join(' ');
}

/** Whether a time is between 9:00 and 17:00, Monday to Friday. */
export function isWorkingTime(time: ZonedDateTime): boolean {
  const { hour } = time;
  return isWeekday(time, 'en-US') && hour >= START_HOUR && hour < END_HOUR;
}
