import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Box } from '@backstage/ui';
import { useMemo } from 'react';
import { CertificateBadge } from '../../person/certificates/CertificateBadge';
import { certificateState } from '../../person/certificates/certificateState';
import { directoryTranslationRef } from '../../translation';
import { shortenSerial } from '../shortenSerial';
import { scaleTimeline, type TimeScale } from './scaleTimeline';
import styles from './Timeline.module.css';
import type { MyCertificate } from './useMyCertificates';

const tickFormats = {
  year: { year: 'numeric' },
  month: { month: 'short', year: 'numeric' },
  day: { day: 'numeric', month: 'short' },
} as const satisfies Record<TimeScale['unit'], Intl.DateTimeFormatOptions>;

/** Options of {@link Timeline}. */
export interface TimelineProps {
  certificates: readonly MyCertificate[];
  now: Date;
}

/**
 * A bar for each certificate from its start to its end, and a line at today.
 * For eyes only: the table beneath says the same to everybody.
 */
export function Timeline({ certificates, now }: TimelineProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const bars = useMemo(() => certificates.map(toBar), [certificates]);
  const scale = useMemo(() => scaleTimeline(bars, now), [bars, now]);
  const today = { '--at': `${scale.at(now)}%` } as React.CSSProperties;

  return (
    <Box bg="neutral" className={styles.timeline} aria-hidden="true">
      <div className={styles.head}>
        <div className={styles.track}>
          <span className={styles.today} style={today}>
            {t('certificates.timeline.today')}
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
                title={t('person.certificates.range', {
                  from: start.toLocaleDateString(),
                  to: end.toLocaleDateString(),
                })}
              />
              <span className={styles.line} style={today} />
            </div>
            <span className={styles.state}>
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
