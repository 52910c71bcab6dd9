import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { fromDate, getLocalTimeZone } from '@internationalized/date';
import { type ReactNode, useEffect, useState } from 'react';
import { locale } from '../language';
import { directoryTranslationRef } from '../translation';
import styles from './DateTime.module.css';
import {
  formatDifference,
  formatHours,
  formatTime,
  isWorkingTime,
  minutesAhead,
  placeOf,
  timeIn,
} from './timeZones';

/** A date in the user's locale, or other text, with the exact time on hover. */
export function DateTime(props: {
  value: Date;

  /** Text instead of the date, such as the time left. */
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
 * The current time in a time zone, with the weekday if it differs from the
 * user's, dimmed outside working hours. Empty when the browser does not know
 * the zone.
 */
export function LocalTime(props: {
  /** The time zone as stored in the directory. */
  timeZone: string;

  /**
   * `brief`: "Sat 20:53 −6h"; `sentence`: "It is Sat 20:53 in New York (−6h)".
   * Defaults to `sentence`.
   */
  form?: 'brief' | 'sentence';
}) {
  const { timeZone, form = 'sentence' } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();

  const local = timeIn(timeZone, now);
  if (!local) {
    return null;
  }
  const own = fromDate(now, getLocalTimeZone());
  const ahead = minutesAhead(local, own);
  const time = formatTime(local, own);
  const difference = formatDifference(ahead);
  const place = placeOf(local);
  const isWorking = isWorkingTime(local);
  const title = [
    t(isWorking ? 'time.working' : 'time.notWorking', { place }),
    ahead !== 0 &&
      t(ahead > 0 ? 'time.ahead' : 'time.behind', {
        hours: formatHours(ahead, 'long'),
      }),
  ]
    .filter(Boolean)
    .join('; ');

  return (
    <time
      dateTime={now.toISOString()}
      title={title}
      className={isWorking ? styles.working : styles.notWorking}
    >
      {form === 'brief' ? (
        <>
          <span className={styles.part}>{time}</span>{' '}
          {ahead !== 0 && <span className={styles.part}>{difference}</span>}
        </>
      ) : (
        t(ahead === 0 ? 'time.same' : 'time.other', { time, place, difference })
      )}
    </time>
  );
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Returns "in 12 days" or "3 days ago" in the user's language, rounded; in hours
 * below two days, in years above two years.
 */
export function formatTimeLeft(expiry: Date, now: Date): string {
  const left = expiry.getTime() - now.getTime();
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  const days = Math.round(left / DAY);
  if (Math.abs(days) > 730) {
    return format.format(Math.round(days / 365.25), 'year');
  }
  return Math.abs(left) < 2 * DAY
    ? format.format(Math.round(left / (DAY / 24)), 'hour')
    : format.format(days, 'day');
}

/**
 * Parses an API timestamp such as `2020-04-23T10:16:35`, which is in UTC unless
 * it has a zone suffix. Returns `undefined` for `null` and for other text.
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
