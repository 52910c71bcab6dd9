import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNow } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './CertificatesTab.module.css';
import { IssueDate, useCertificateName, Validity } from './Facts';
import { Serial } from './Serial';
import {
  certificateState,
  haveSameIssuer,
  type ListedCertificate,
} from './userCertificates';

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
                showsIssuer={!haveSameIssuer(certificates)}
              />
            ))}
          </Rows>
        )
      }
    </QueryPanel>
  );
}

/** Purpose, label, issue date, serial number and state of a certificate. */
export function CertificateRow(props: {
  certificate: ListedCertificate;

  /** Defaults to false. */
  showsIssuer?: boolean;
}) {
  const { certificate, showsIssuer = false } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const now = useNow();
  const name = useCertificateName()(certificate);
  const { issuer, serial_number, serial_number_hex } = certificate;
  const serial = String(serial_number);

  return (
    <li className={rows.row}>
      <div className={rows.text}>
        {certificateState(certificate, now) === 'foreign' ? (
          // Another CA may use the serial number of a different certificate.
          <Text weight="bold">
            <bdi>{name}</bdi>
          </Text>
        ) : (
          <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
            <bdi>{name}</bdi>
          </Link>
        )}
        <IssueDate certificate={certificate} />
        {showsIssuer && (
          <Text as="p" variant="body-small" color="secondary">
            {t('certificate.issuer')} <DirectoryText value={issuer} />
          </Text>
        )}
        <span className={styles.serial}>
          {t('certificate.serial')}{' '}
          <Serial serial={serial_number} hex={serial_number_hex} />
        </span>
      </div>
      <div className={styles.state}>
        <Validity certificate={certificate} now={now} />
      </div>
    </li>
  );
}
