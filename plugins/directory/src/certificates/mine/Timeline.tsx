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
 * it extends beyond the timeline, and a line at the current date. Hidden from
 * screen readers because the list below has the same content.
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
                  // A bar entirely outside the timeline is an arrow at its
                  // edge.
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
              style={{ '--at': `${at}%` } as React.CSSProperties}
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
  /**
   * Returns the distance of a time from the left, in percent; below 0 or above
   * 100 outside the timeline.
   */
  at: (date: Date) => number;

  ticks: readonly Tick[];
  unit: 'month' | 'day';
}

const DAY = 24 * 60 * 60 * 1000;

/** Approximate number of ticks. */
const MAX_TICKS = 6;

/** Maximum ranges of the timeline before and after now, in milliseconds. */
const BEFORE = 92 * DAY;
const AFTER = 366 * DAY;

function clamp(percent: number): number {
  return Math.min(100, Math.max(0, percent));
}

/**
 * Returns a time axis that covers `now` and the spans. Limited to about 15
 * months, so that a certificate valid for decades does not hide the others.
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

/** Returns the first day of every `step`-th month. */
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
