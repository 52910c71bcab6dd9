import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Link, Text } from '@backstage/ui';
import { CertificateBadge } from '../certificates/Facts';
import { shortenSerial } from '../certificates/Serial';
import {
  certificateState,
  type ListedCertificate,
  pickUsable,
  useCertificates,
} from '../certificates/userCertificates';
import { DateTime, formatLeft, useNow } from '../components/DateTime';
import { certificateRouteRef, personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { directoryNameOf, readCatalogNames } from './catalogNames';
import styles from './CertificatesCard.module.css';
import { DirectoryCard } from './DirectoryCard';

/** Number of certificates on a card. */
const SHOWN_CERTIFICATES = 3;

/** Valid certificates of a catalog user, with their expiry. */
export function CertificatesCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { entity } = useEntity();
  const names = readCatalogNames(useApi(configApiRef));
  const username = directoryNameOf(entity, names) ?? entity.metadata.name;
  const href = useRouteRef(personRouteRef);
  const now = useNow();
  const query = useCertificates(username);
  const all = `${href?.({ username }) ?? ''}?tab=certificates`;

  return (
    <DirectoryCard
      title={t('entity.certificates.title')}
      unknown={t('entity.user.unknown', { name: username })}
      query={query}
      footer={
        <Link href={all} standalone>
          {t('entity.certificates.open')}
        </Link>
      }
    >
      {certificates => {
        const usable = pickUsable(certificates, now);
        const more = usable.length - SHOWN_CERTIFICATES;
        if (usable.length === 0) {
          return (
            <Text as="p" color="secondary">
              {t('entity.certificates.none')}
            </Text>
          );
        }
        return (
          <>
            <ul className={styles.lines}>
              {usable.slice(0, SHOWN_CERTIFICATES).map(certificate => (
                <CertificateLine
                  key={`${certificate.issuer} ${certificate.serial_number}`}
                  certificate={certificate}
                  now={now}
                />
              ))}
            </ul>
            {more > 0 && (
              <Link href={all} color="secondary" standalone>
                {t('entity.certificates.more', { count: more })}
              </Link>
            )}
          </>
        );
      }}
    </DirectoryCard>
  );
}

/** Serial number, state and expiry of a certificate. */
function CertificateLine(props: { certificate: ListedCertificate; now: Date }) {
  const { certificate, now } = props;
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
