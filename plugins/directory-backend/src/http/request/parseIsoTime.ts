const DATE =
  /^(?<year>\d{4})(?:-?(?:(?<month>\d\d)(?:-?(?<day>\d\d))?|W(?<week>\d\d)(?:-?(?<weekday>[1-7]))?|(?<ordinal>\d{3})))?$/;

const TIME =
  /^(?<hour>\d\d)(?::?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * An ISO 8601 date, week date or ordinal date, alone or followed by `T` and a
 * time. Without a zone it is UTC, as the API's own `creation` is; a zone is
 * converted. `undefined` when the text is none of these.
 */
export function parseIsoTime(text: string): Date | undefined {
  const [datePart, timePart, ...rest] = text.split('T');
  // A `+` of a zone arrives as a space where a client forgot to encode it.
  const day = parseDay(datePart);
  const time =
    timePart === undefined ? 0 : parseTime(timePart.replace(' ', '+'));
  if (rest.length > 0 || day === undefined || time === undefined) {
    return undefined;
  }
  return new Date(day + time);
}

/** Milliseconds of a day's start, in UTC. */
function parseDay(text: string): number | undefined {
  const parts = DATE.exec(text)?.groups;
  if (!parts) {
    return undefined;
  }
  const year = Number(parts.year);
  if (parts.week !== undefined) {
    return weekDate(year, Number(parts.week), Number(parts.weekday ?? 1));
  }
  if (parts.ordinal !== undefined) {
    const day = startOfYear(year) + (Number(parts.ordinal) - 1) * DAY_MS;
    return Number(parts.ordinal) > 0 && yearOf(day) === year ? day : undefined;
  }
  return calendarDate(year, Number(parts.month ?? 1), Number(parts.day ?? 1));
}

function calendarDate(
  year: number,
  month: number,
  day: number,
): number | undefined {
  const date = new Date(startOfYear(year));
  date.setUTCMonth(month - 1, day);
  const exists =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year > 0;
  return exists ? date.getTime() : undefined;
}

/** Week 1 has the year's first Thursday, and so 4 January. */
function weekDate(
  year: number,
  week: number,
  weekday: number,
): number | undefined {
  const fourth = startOfYear(year) + 3 * DAY_MS;
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
  const thursday = monday + ((week - 1) * 7 + 3) * DAY_MS;
  if (week < 1 || yearOf(thursday) !== year) {
    return undefined;
  }
  return thursday + (weekday - 4) * DAY_MS;
}

/** Milliseconds since the day's start, less the zone's offset. */
function parseTime(text: string): number | undefined {
  const parts = TIME.exec(text)?.groups;
  if (!parts) {
    return undefined;
  }
  const [hour, minute, second] = [parts.hour, parts.minute, parts.second].map(
    digits => Number(digits ?? 0),
  );
  const millisecond = Math.floor(Number(`0.${parts.fraction ?? 0}`) * 1000);
  if (hour > 23 || minute > 59 || second > 59) {
    return undefined;
  }
  const inDay = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
  return inDay - zoneOffset(parts.zone ?? 'Z');
}

function zoneOffset(zone: string): number {
  const [, sign, hours, minutes = '0'] =
    /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (!sign) {
    return 0;
  }
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
}

function startOfYear(year: number): number {
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function yearOf(time: number): number {
  return new Date(time).getUTCFullYear();
}
