import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Box } from '@backstage/ui';
import { useMemo } from 'react';
import { directoryTranslationRef } from '../../translation';
import { CertificateBadge, useCertificateName } from '../Facts';
import { certificateState, type MyCertificate } from '../userCertificates';
import styles from './Timeline.module.css';
import { locale } from '../../language';

const tickFormats = {
  month: { month: 'short', year: 'numeric' },
  day: { day: 'numeric', month: 'short' },
} as const satisfies Record<TimeScale['unit'], Intl.DateTimeFormatOptions>;

/**
 * A bar for each certificate from its start to its expiry, with an arrow where
 * it continues outside of the timeline, and a line at today. Hidden from screen readers: the list below has the same content.
 */
export function Timeline(props: {
  certificates: readonly MyCertificate[];
  now: Date;
}) {
  const { certificates, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const nameOf = useCertificateName();
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
        const [left, right] = [scale.at(start), scale.at(end)];
        return (
          <div key={key} className={styles.row}>
            <span className={styles.label}>
              <bdi>{certificate.label ?? nameOf(certificate)}</bdi>
            </span>
            <div className={styles.track}>
              <span
                className={`${styles.bar} ${styles[state]}`}
                data-from={left < 0 || undefined}
                data-until={right > 100 || undefined}
                style={{
                  // A bar that is outside as a whole is an arrow at the edge.
                  left: `min(${clamp(left)}%, 100% - 0.5rem)`,
                  width: `${clamp(right) - clamp(left)}%`,
                }}
                title={t('certificate.range', {
                  from: start.toLocaleDateString(locale()),
                  to: end.toLocaleDateString(locale()),
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
              {date.toLocaleDateString(locale(), tickFormats[scale.unit])}
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
  /** Returns the distance of a moment from the left, in percent, also outside. */
  at: (date: Date) => number;

  ticks: readonly Tick[];
  unit: 'month' | 'day';
}

const DAY = 24 * 60 * 60 * 1000;

/** Approximate number of ticks. */
const MAX_TICKS = 6;

/** Largest times before and after now on the timeline. */
const BEFORE = 92 * DAY;
const AFTER = 366 * DAY;

function clamp(percent: number): number {
  return Math.min(100, Math.max(0, percent));
}

/**
 * Returns a time axis that contains `now` and the spans, at most about 15
 * months: one certificate that is valid for decades must not hide the others.
 */
export function scaleTimeline(
  spans: readonly { start: Date; end: Date }[],
  now: Date,
): TimeScale {
  const today = now.getTime();
  const times = [
    today,
    ...spans.flatMap(({ start, end }) => [start.getTime(), end.getTime()]),
  ];
  const first = Math.max(Math.min(...times), today - BEFORE);
  const last = Math.min(Math.max(...times), today + AFTER);
  const margin = Math.max(DAY, (last - first) / 50);
  const from = first - margin;
  const to = last + margin;
  const at = (date: Date) => ((date.getTime() - from) / (to - from)) * 100;
  const { unit, dates } = tickDates(from, to);
  return { at, unit, ticks: dates.map(date => ({ date, at: at(date) })) };
}

function tickDates(
  from: number,
  to: number,
): { unit: TimeScale['unit']; dates: Date[] } {
  const days = (to - from) / DAY;
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

/** Returns first days of months. */
function monthsUntil(options: { from: number; to: number; step: number }) {
  const { from, to, step } = options;
  const start = new Date(from);
  const dates: Date[] = [];
  const date = new Date(start.getFullYear(), start.getMonth() + 1);
  for (; date.getTime() < to; date.setMonth(date.getMonth() + step)) {
    dates.push(new Date(date));
  }
  return dates;
}
