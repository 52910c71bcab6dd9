import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { shortenSerial } from '../../certificates/shortenSerial';
import type { ListedCertificate } from '../../certificates/userCertificates';
import { CopyButton } from '../../components/CopyButton';
import { DateTime, formatLeft, useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import rows from '../../page/QueryPanel.module.css';
import { CertificateBadge, CertificateHint } from './CertificateBadge';
import styles from './CertificateRow.module.css';
import { certificateState } from './certificateState';

/** A certificate: for whom, by whom, its number, and how it stands. */
export function CertificateRow({
  certificate,
}: {
  certificate: ListedCertificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const now = useNow();
  const { subject, issuer, serial_number, serial_number_hex } = certificate;
  const ends = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);
  const serial = String(serial_number);

  return (
    <li className={rows.row}>
      <div className={rows.words}>
        {state === 'foreign' ? (
          // Its serial number may be that of another certificate.
          <Text weight="bold">
            <DirectoryText value={subject} />
          </Text>
        ) : (
          <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
            <DirectoryText value={subject} />
          </Link>
        )}
        <Text as="p" variant="body-small" color="secondary">
          {t('person.certificates.issuer')} <DirectoryText value={issuer} />
        </Text>
        <span className={styles.serial}>
          {t('person.certificates.serial')}{' '}
          <code title={serial_number_hex}>
            {shortenSerial(serial_number_hex)}
          </code>
          <CopyButton
            value={serial}
            label={t('person.certificates.copySerial', { serial })}
          />
        </span>
        <CertificateHint state={state} />
      </div>
      <div className={styles.state}>
        <CertificateBadge state={state} />
        <Text as="p" variant="body-small" color="secondary">
          {t('person.certificates.ends')} <DateTime value={ends} />
          {(state === 'valid' || state === 'expiring') && (
            <> ({formatLeft(ends, now)})</>
          )}
        </Text>
      </div>
    </li>
  );
}
