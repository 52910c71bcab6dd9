import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { type ReactNode, useEffect, useState } from 'react';
import { locale } from '../language';
import { directoryTranslationRef } from '../translation';

/** A day in the user's locale, or other text; the exact time on hover. */
export function DateTime(props: {
  value: Date;

  /** Text in place of the day, such as the time left. */
  children?: ReactNode;
}) {
  const { value, children } = props;
  return (
    <time
      dateTime={value.toISOString()}
      title={value.toLocaleString(locale(), {
        dateStyle: 'full',
        timeStyle: 'long',
      })}
    >
      {children ?? value.toLocaleDateString(locale(), { dateStyle: 'medium' })}
    </time>
  );
}

/**
 * The current time in a time zone, with the zone on hover; nothing when the
 * browser does not know the zone.
 */
export function LocalTime(props: {
  /** The time zone as stored in the directory. */
  timeZone: string;

  /** `brief` is the time alone. Defaults to `relative`: "14:05, 3 h ahead of you". */
  form?: 'brief' | 'relative';
}) {
  const { timeZone, form = 'relative' } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();

  const offset = offsetMinutes(timeZone, now);
  if (offset === undefined) {
    return null;
  }
  const time = now.toLocaleTimeString(locale(), {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
  });
  const ahead = offset + now.getTimezoneOffset();
  const text = () => {
    if (ahead === 0) {
      return t('time.same', { time });
    }
    const difference = formatDifference(Math.abs(ahead));
    return t(ahead > 0 ? 'time.ahead' : 'time.behind', { time, difference });
  };

  return (
    <time dateTime={now.toISOString()} title={timeZone}>
      {form === 'brief' ? time : text()}
    </time>
  );
}

/** Returns "3 h" or "5 h 30 min", in the user's language. */
function formatDifference(minutes: number): string {
  const unit = (value: number, name: 'hour' | 'minute') =>
    value.toLocaleString(locale(), {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
    });
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return [
    ...(hours ? [unit(hours, 'hour')] : []),
    ...(rest ? [unit(rest, 'minute')] : []),
  ].join(' ');
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Returns "in 12 days" or "3 days ago", in the user's language: in hours within
 * two days, in years beyond two years.
 */
export function formatTimeLeft(expiry: Date, now: Date): string {
  const left = expiry.getTime() - now.getTime();
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  const days = Math.trunc(left / DAY);
  if (Math.abs(days) > 730) {
    return format.format(Math.trunc(days / 365.25), 'year');
  }
  return Math.abs(left) < 2 * DAY
    ? format.format(Math.trunc(left / (DAY / 24)), 'hour')
    : format.format(days, 'day');
}

/**
 * Returns the offset of a time zone from UTC at a moment, in minutes;
 * `undefined` for a zone that the browser does not know: the directory accepts
 * any text.
 */
export function offsetMinutes(
  timeZone: string,
  moment: Date,
): number | undefined {
  try {
    const name = new Intl.DateTimeFormat('en-US', {
      timeZone,
      timeZoneName: 'longOffset',
    })
      .formatToParts(moment)
      .find(part => part.type === 'timeZoneName')?.value; // GMT+05:30
    const [, sign, hours, minutes] = name?.match(/([+-])(\d\d):(\d\d)/) ?? [];
    const size = sign ? Number(hours) * 60 + Number(minutes) : 0;
    return sign === '-' ? -size : size;
  } catch {
    return undefined;
  }
}

/**
 * Parses a time of the API, `2020-04-23T10:16:35`, in UTC without a suffix;
 * `undefined` for `null` and for text that is not a time.
 */
export function parseUtc(text: string | null | undefined): Date | undefined {
  if (!text) {
    return undefined;
  }
  const date = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Returns the current time, updated at the start of every minute. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());

  useEffect(() => {
    const untilNextMinute = 60_000 - (now.getTime() % 60_000);
    const timer = setTimeout(() => setNow(new Date()), untilNextMinute);
    return () => clearTimeout(timer);
  }, [now]);

  return now;
}
