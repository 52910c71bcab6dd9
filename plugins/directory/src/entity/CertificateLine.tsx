import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { CertificateBadge } from '../certificates/Facts';
import { shortenSerial } from '../certificates/Serial';
import {
  certificateState,
  type ListedCertificate,
} from '../certificates/userCertificates';
import { DateTime, formatLeft } from '../components/DateTime';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './CertificatesCard.module.css';

/** Options of {@link CertificateLine}. */
export interface CertificateLineProps {
  certificate: ListedCertificate;
  now: Date;
}

/** A certificate on a card: its number, how it stands, and when it ends. */
export function CertificateLine({ certificate, now }: CertificateLineProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const serial = String(certificate.serial_number);
  const end = new Date(certificate.valid_not_after);
  return (
    <li className={styles.line}>
      <div className={styles.words}>
        <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
          <code className={styles.serial} title={serial}>
            {shortenSerial(serial)}
          </code>
        </Link>
        <Text as="p" variant="body-small" color="secondary">
          <DateTime value={end}>
            {t('entity.certificates.ends', { left: formatLeft(end, now) })}
          </DateTime>
        </Text>
      </div>
      <CertificateBadge state={certificateState(certificate, now)} />
    </li>
  );
}
