import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DateTime, formatTimeLeft, useNow } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { certificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './CertificatesTab.module.css';
import {
  CertificateBadge,
  CertificateHint,
  useCertificateName,
  ValidFrom,
} from './Facts';
import { Serial } from './Serial';
import {
  certificateState,
  type ListedCertificate,
  orderByExpiry,
} from './userCertificates';

/** The certificates of a user, next to expire first. */
export function CertificatesTab({
  query,
}: {
  query: UseQueryResult<ListedCertificate[]>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();
  return (
    <QueryPanel query={query}>
      {certificates =>
        certificates.length === 0 ? (
          <EmptyState
            icon={<RiShieldKeyholeLine />}
            title={t('certificates.noneOfUser')}
          />
        ) : (
          <CertificateRows certificates={orderByExpiry(certificates, now)} />
        )
      }
    </QueryPanel>
  );
}

/** A list of certificates. Shows the issuers when they differ. */
export function CertificateRows<Listed extends ListedCertificate>(props: {
  certificates: readonly Listed[];

  /** Returns the buttons of a row. Defaults to none. */
  actionsOf?: (certificate: Listed) => ReactNode;
}) {
  const { certificates, actionsOf } = props;
  const issuers = new Set(certificates.map(({ issuer }) => issuer));
  return (
    <Rows>
      {certificates.map(certificate => (
        <CertificateRow
          key={`${certificate.issuer} ${certificate.serial_number}`}
          certificate={certificate}
          showsIssuer={issuers.size > 1}
          actions={actionsOf?.(certificate)}
        />
      ))}
    </Rows>
  );
}

/** Label, purpose, start, serial number and state of a certificate. */
export function CertificateRow(props: {
  certificate: ListedCertificate;

  /** Whether to show the issuer. Defaults to false. */
  showsIssuer?: boolean;

  /** Buttons of the row. Defaults to none. */
  actions?: ReactNode;
}) {
  const { certificate, showsIssuer = false, actions } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const now = useNow();
  const name = <bdi>{useCertificateName()(certificate)}</bdi>;
  const { issuer, serial_number, serial_number_hex } = certificate;
  const serial = String(serial_number);

  return (
    <li className={rows.row}>
      <div className={rows.text}>
        {certificateState(certificate, now) === 'foreign' ? (
          // Certificates of different CAs may have the same serial number.
          <Text weight="bold">{name}</Text>
        ) : (
          <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
            {name}
          </Link>
        )}
        <ValidFrom certificate={certificate} />
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
      {actions && (
        <div className={`${rows.badges} ${styles.actions}`}>{actions}</div>
      )}
    </li>
  );
}

/** State and expiry of a certificate, and an explanation of the state. */
function Validity(props: { certificate: ListedCertificate; now: Date }) {
  const { certificate, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const state = certificateState(certificate, now);
  const expiry = new Date(certificate.valid_not_after);
  return (
    <>
      <CertificateBadge state={state} />
      {state !== 'revoked' && (
        <Text as="p" variant="body-small" color="secondary">
          {t(
            expiry < now ? 'certificate.expiredAgo' : 'certificate.expiresIn',
            {
              left: formatTimeLeft(expiry, now),
              date: <DateTime value={expiry} />,
            },
          )}
        </Text>
      )}
      <Text as="p" variant="body-small" color="secondary">
        <CertificateHint certificate={certificate} state={state} />
      </Text>
    </>
  );
}
