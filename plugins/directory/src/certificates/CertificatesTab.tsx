import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { DateTime, formatTimeLeft, useNow } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './CertificatesTab.module.css';
import { CertificateBadge, CertificateHint } from './Facts';
import { Serial } from './Serial';
import { certificateState, type ListedCertificate } from './userCertificates';

/** The certificates of a user, the newest first. */
export function CertificatesTab({
  query,
}: {
  query: UseQueryResult<ListedCertificate[]>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel query={query}>
      {certificates =>
        certificates.length === 0 ? (
          <EmptyState
            icon={<RiShieldKeyholeLine />}
            title={t('certificates.noneOfUser')}
          />
        ) : (
          <Rows>
            {certificates.map(certificate => (
              <CertificateRow
                key={`${certificate.issuer} ${certificate.serial_number}`}
                certificate={certificate}
              />
            ))}
          </Rows>
        )
      }
    </QueryPanel>
  );
}

/** Subject, issuer, serial number and state of a certificate. */
function CertificateRow({ certificate }: { certificate: ListedCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const now = useNow();
  const { subject, issuer, serial_number, serial_number_hex } = certificate;
  const expiry = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);
  const serial = String(serial_number);

  return (
    <li className={rows.row}>
      <div className={rows.text}>
        {state === 'foreign' ? (
          // Another CA may use the serial number of a different certificate.
          <Text weight="bold">
            <DirectoryText value={subject} />
          </Text>
        ) : (
          <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
            <DirectoryText value={subject} />
          </Link>
        )}
        <Text as="p" variant="body-small" color="secondary">
          {t('certificate.issuer')} <DirectoryText value={issuer} />
        </Text>
        <span className={styles.serial}>
          {t('certificate.serial')}{' '}
          <Serial serial={serial_number} hex={serial_number_hex} />
        </span>
        <CertificateHint state={state} />
      </div>
      <div className={styles.state}>
        <CertificateBadge state={state} />
        <Text as="p" variant="body-small" color="secondary">
          {t('certificate.expires')} <DateTime value={expiry} />
          {(state === 'valid' || state === 'expiring') && (
            <> ({formatTimeLeft(expiry, now)})</>
          )}
        </Text>
      </div>
    </li>
  );
}
