import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import {
  CertificateBadge,
  useCertificateName,
  ValidFrom,
} from '../certificates/Facts';
import {
  certificateState,
  type ListedCertificate,
  useCertificates,
  validCertificates,
} from '../certificates/userCertificates';
import { DateTime, formatTimeLeft, useNow } from '../components/DateTime';
import { certificateRouteRef, personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './CertificatesCard.module.css';
import { DirectoryCard, useDirectoryName } from './DirectoryCard';

/** Maximum number of certificates on a card. */
const MAX_CERTIFICATES = 3;

/** Card with the valid certificates of a catalog user and their expiry. */
export function CertificatesCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const username = useDirectoryName();
  const href = useRouteRef(personRouteRef);
  const now = useNow();
  const all = `${href?.({ username }) ?? ''}?tab=certificates`;

  return (
    <DirectoryCard
      title={t('entity.certificates.title')}
      unknown={t('entity.user.unknown', { name: username })}
      query={useCertificates(username)}
      href={all}
      linkText={t('entity.certificates.open')}
    >
      {certificates => {
        const valid = validCertificates(certificates, now);
        const more = valid.length - MAX_CERTIFICATES;
        return valid.length === 0 ? (
          <Text as="p" color="secondary">
            {t('entity.certificates.none')}
          </Text>
        ) : (
          <>
            <ul className={styles.lines}>
              {valid.slice(0, MAX_CERTIFICATES).map(certificate => (
                <CertificateLine
                  key={`${certificate.issuer} ${certificate.serial_number}`}
                  certificate={certificate}
                  now={now}
                />
              ))}
            </ul>
            {more > 0 && (
              <Link href={all} color="secondary" standalone>
                {t('entity.more', { count: more })}
              </Link>
            )}
          </>
        );
      }}
    </DirectoryCard>
  );
}

/** Purpose, label, issue date, state and expiry of a certificate. */
function CertificateLine(props: { certificate: ListedCertificate; now: Date }) {
  const { certificate, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const serial = String(certificate.serial_number);
  const name = useCertificateName()(certificate);
  const expiry = new Date(certificate.valid_not_after);
  return (
    <li className={styles.line}>
      <div className={styles.text}>
        <Link href={href?.({ serial }) ?? ''} weight="bold" standalone>
          <bdi>{name}</bdi>
        </Link>
        <ValidFrom certificate={certificate} />
        <Text as="p" variant="body-small" color="secondary">
          <DateTime value={expiry}>
            {t('entity.certificates.expires', {
              left: formatTimeLeft(expiry, now),
            })}
          </DateTime>
        </Text>
      </div>
      <CertificateBadge state={certificateState(certificate, now)} />
    </li>
  );
}
