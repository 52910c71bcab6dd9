import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { useMemo } from 'react';
import { useNow } from '../components/DateTime';
import {
  formatTime,
  nextSharedPeriod,
  offsetMinutes,
  ownTimeZone,
  type Period,
  placeOf,
  startOfDay,
  workingPeriods,
} from '../components/timeZones';
import { directoryTranslationRef } from '../translation';
import styles from './DayStrip.module.css';
import { locale } from '../language';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

/**
 * The user's day above the same period in another time zone, with working hours
 * and the current time, and the next shared working hours. Empty when the UTC
 * offsets are equal or the browser does not know the time zone.
 */
export function DayStrip({ timeZone }: { timeZone: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const own = ownTimeZone();
  const now = useNow();
  const offset = offsetMinutes(timeZone, now);
  const minute = now.getTime();
  const day = useMemo(
    () => describeDay(own, timeZone, new Date(minute)),
    [own, timeZone, minute],
  );
  if (offset === undefined || offset === offsetMinutes(own, now)) {
    return null;
  }

  const { from, yours, theirs, shared } = day;
  const time = (moment: Date) => formatTime(moment, own, own, now);
  const list = (periods: readonly Period[]) =>
    periods
      .map(({ start, end }) => `${clock(start, own)}–${clock(end, own)}`)
      .join(', ') || t('person.day.none');
  const place = placeOf(timeZone);
  const sentence = () => {
    if (!shared) {
      return t('person.day.never');
    }
    const [start, end] = [time(shared.start), clock(shared.end, own)];
    return shared.start <= now
      ? t('person.day.now', { end })
      : t('person.day.next', { start, end });
  };

  return (
    <div>
      <div
        role="img"
        aria-label={t('person.day.chart', {
          place,
          yours: list(yours),
          theirs: list(theirs),
        })}
        className={styles.chart}
      >
        <Bar
          label={t('person.day.you')}
          from={from}
          now={now}
          periods={yours}
        />
        <Hours from={from} timeZone={own} />
        <Bar label={place} from={from} now={now} periods={theirs} />
        <Hours from={from} timeZone={timeZone} />
      </div>
      <Text as="p" variant="body-small">
        {sentence()}
      </Text>
    </div>
  );
}

/** Returns the working hours of the user's day and the next shared ones. */
function describeDay(own: string, timeZone: string, now: Date) {
  const from = startOfDay(now, own);
  const to = new Date(from.getTime() + DAY);
  return {
    from,
    yours: workingPeriods({ timeZones: [own], from, to }),
    theirs: workingPeriods({ timeZones: [timeZone], from, to }),
    shared: nextSharedPeriod(own, timeZone, now),
  };
}

/** Returns the time of day in the short format of the user's locale. */
function clock(moment: Date, timeZone: string): string {
  return moment.toLocaleTimeString(locale(), { timeZone, timeStyle: 'short' });
}

function percent(moment: Date, from: Date): string {
  return `${(100 * (moment.getTime() - from.getTime())) / DAY}%`;
}

/** A day with its working hours and the current time. */
function Bar(props: {
  label: string;
  from: Date;
  now: Date;
  periods: readonly Period[];
}) {
  const { label, from, now, periods } = props;
  return (
    <>
      <span className={styles.label}>{label}</span>
      <div className={styles.bar}>
        {periods.map(({ start, end }) => (
          <span
            key={start.getTime()}
            className={styles.work}
            style={{
              insetInlineStart: percent(start, from),
              width: percent(end, start),
            }}
          />
        ))}
        <span
          className={styles.now}
          style={{ insetInlineStart: percent(now, from) }}
        />
      </div>
    </>
  );
}

/** Time labels below a bar, every six hours. */
function Hours({ from, timeZone }: { from: Date; timeZone: string }) {
  return (
    <div className={styles.hours}>
      {[0, 6, 12, 18].map(hour => (
        <span key={hour}>
          {clock(new Date(from.getTime() + hour * HOUR), timeZone)}
        </span>
      ))}
    </div>
  );
}
