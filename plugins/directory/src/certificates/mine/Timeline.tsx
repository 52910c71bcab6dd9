import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Box } from '@backstage/ui';
import { useMemo } from 'react';
import { directoryTranslationRef } from '../../translation';
import { CertificateBadge } from '../Facts';
import { shortenSerial } from '../Serial';
import { certificateState, type MyCertificate } from '../userCertificates';
import styles from './Timeline.module.css';

const tickFormats = {
  year: { year: 'numeric' },
  month: { month: 'short', year: 'numeric' },
  day: { day: 'numeric', month: 'short' },
} as const satisfies Record<TimeScale['unit'], Intl.DateTimeFormatOptions>;

/**
 * A bar for each certificate from its start to its expiry, and a line at today.
 * Hidden from screen readers: the table below has the same content.
 */
export function Timeline(props: {
  certificates: readonly MyCertificate[];
  now: Date;
}) {
  const { certificates, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const bars = useMemo(() => certificates.map(toBar), [certificates]);
  const scale = useMemo(() => scaleTimeline(bars, now), [bars, now]);
  const today = { '--at': `${scale.at(now)}%` } as React.CSSProperties;

  return (
    <Box bg="neutral" className={styles.timeline} aria-hidden="true">
      <div className={styles.head}>
        <div className={styles.track}>
          <span className={styles.today} style={today}>
            {t('certificates.today')}
          </span>
        </div>
      </div>
      {bars.map(({ key, certificate, start, end }) => {
        const state = certificateState(certificate, now);
        return (
          <div key={key} className={styles.row}>
            <code className={styles.label}>
              {shortenSerial(String(certificate.serial_number))}
            </code>
            <div className={styles.track}>
              <span
                className={`${styles.bar} ${styles[state]}`}
                style={{
                  left: `${scale.at(start)}%`,
                  width: `${scale.at(end) - scale.at(start)}%`,
                }}
                title={t('certificate.range', {
                  from: start.toLocaleDateString(),
                  to: end.toLocaleDateString(),
                })}
              />
              <span className={styles.line} style={today} />
            </div>
            <span>
              <CertificateBadge state={state} />
            </span>
          </div>
        );
      })}
      <div className={styles.foot}>
        <div className={styles.track}>
          {scale.ticks.map(({ date, at }) => (
            <span
              key={date.getTime()}
              className={styles.tick}
              style={{ left: `${at}%` }}
            >
              {date.toLocaleDateString(undefined, tickFormats[scale.unit])}
            </span>
          ))}
        </div>
      </div>
    </Box>
  );
}

function toBar(certificate: MyCertificate) {
  return {
    key: certificate.sha256_fingerprint,
    certificate,
    start: new Date(certificate.valid_not_before),
    end: new Date(certificate.valid_not_after),
  };
}

interface Tick {
  date: Date;

  /** Distance from the left, in percent. */
  at: number;
}

interface TimeScale {
  /** Returns the distance of a moment from the left, in percent. */
  at: (date: Date) => number;

  ticks: readonly Tick[];
  unit: 'year' | 'month' | 'day';
}

const DAY = 24 * 60 * 60 * 1000;

/** Approximate number of ticks. */
const MAX_TICKS = 6;

/** Returns a time axis that contains all spans and `now`. */
export function scaleTimeline(
  spans: readonly { start: Date; end: Date }[],
  now: Date,
): TimeScale {
  const times = [
    now.getTime(),
    ...spans.flatMap(({ start, end }) => [start.getTime(), end.getTime()]),
  ];
  const margin = Math.max(DAY, (Math.max(...times) - Math.min(...times)) / 50);
  const from = Math.min(...times) - margin;
  const to = Math.max(...times) + margin;
  const at = (date: Date) => ((date.getTime() - from) / (to - from)) * 100;
  const { unit, dates } = tickDates(from, to);
  return { at, unit, ticks: dates.map(date => ({ date, at: at(date) })) };
}

function tickDates(
  from: number,
  to: number,
): { unit: TimeScale['unit']; dates: Date[] } {
  const days = (to - from) / DAY;
  if (days > 730) {
    const step = Math.ceil(days / 365 / MAX_TICKS);
    return { unit: 'year', dates: monthsUntil({ from, to, step: 12 * step }) };
  }
  if (days > 80) {
    const step = Math.ceil(days / 30 / MAX_TICKS);
    return { unit: 'month', dates: monthsUntil({ from, to, step }) };
  }
  const step = Math.max(1, Math.ceil(days / MAX_TICKS));
  const dates: Date[] = [];
  const date = new Date(from);
  date.setHours(24, 0, 0, 0); // the next midnight, local time
  for (; date.getTime() < to; date.setDate(date.getDate() + step)) {
    dates.push(new Date(date));
  }
  return { unit: 'day', dates };
}

/** Returns first days of months, or of years for whole years. */
function monthsUntil(options: { from: number; to: number; step: number }) {
  const { from, to, step } = options;
  const start = new Date(from);
  const month = step % 12 === 0 ? 12 : start.getMonth() + 1;
  const dates: Date[] = [];
  const date = new Date(start.getFullYear(), month);
  for (; date.getTime() < to; date.setMonth(date.getMonth() + step)) {
    dates.push(new Date(date));
  }
  return dates;
}
