import { locale } from '../language';

const MINUTE = 60_000;

const START_HOUR = 9;
const END_HOUR = 17;

/** Formats by language and options, cached because they are slow to create. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(
  language: string | undefined,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = JSON.stringify([language, options]);
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(language, options);
    formats.set(key, format);
  }
  return format;
}

/**
 * Returns the UTC offset of a time zone at a given time, in minutes;
 * `undefined` for a zone that the browser does not know. The directory accepts
 * any text as a time zone.
 */
export function offsetMinutes(
  timeZone: string,
  moment: Date,
): number | undefined {
  try {
    const name = formatOf('en-US', { timeZone, timeZoneName: 'longOffset' })
      .formatToParts(moment)
      .find(part => part.type === 'timeZoneName')?.value; // GMT+05:30
    const [, sign, hours, minutes] = name?.match(/([+-])(\d\d):(\d\d)/) ?? [];
    const size = sign ? Number(hours) * 60 + Number(minutes) : 0;
    return sign === '-' ? -size : size;
  } catch {
    return undefined;
  }
}

/** Returns a time zone of the directory if the browser knows it. */
export function knownTimeZone(timeZone: string | null): string | undefined {
  return timeZone && offsetMinutes(timeZone, new Date()) !== undefined
    ? timeZone
    : undefined;
}

/** Returns the time zone of the browser. */
export function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Returns the time in a time zone, such as "20:53"; with the weekday, as in
 * "Sat 20:53", if the date differs from that of `otherMoment` in `otherZone`.
 */
export function formatTime(
  moment: Date,
  timeZone: string,
  otherZone: string,
  otherMoment = moment,
): string {
  const day = formatOf(locale(), { timeZone }).format(moment);
  const otherDay = formatOf(locale(), { timeZone: otherZone }).format(
    otherMoment,
  );
  const options: Intl.DateTimeFormatOptions =
    day === otherDay
      ? { timeStyle: 'short' }
      : { weekday: 'short', hour: 'numeric', minute: '2-digit' };
  return formatOf(locale(), { timeZone, ...options }).format(moment);
}

/**
 * Returns the city of a time zone, such as "New York"; the zone if it has none.
 */
export function placeOf(timeZone: string): string {
  return /^Etc\/GMT[+-]/i.test(timeZone)
    ? `UTC${formatDifference(offsetMinutes(timeZone, new Date()) ?? 0)}`
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

/**
 * Whether a given time is between 9:00 and 17:00, Monday to Friday, in a time
 * zone.
 */
export function isWorkingTime(moment: Date, timeZone: string): boolean {
  const offset = offsetMinutes(timeZone, moment);
  if (offset === undefined) {
    return false;
  }
  const local = new Date(moment.getTime() + offset * MINUTE);
  const day = local.getUTCDay();
  const hour = local.getUTCHours();
  return day >= 1 && day <= 5 && hour >= START_HOUR && hour < END_HOUR;
}
