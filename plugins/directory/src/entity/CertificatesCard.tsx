import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Link, Text } from '@backstage/ui';
import { pickUsable, useCertificates } from '../certificates/userCertificates';
import { useNow } from '../components/DateTime';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { directoryNameOf, readCatalogNames } from './catalogNames';
import { CertificateLine } from './CertificateLine';
import styles from './CertificatesCard.module.css';
import { DirectoryCard } from './DirectoryCard';

/** Certificates that are shown on a card. */
const SHOWN_CERTIFICATES = 3;

/** On a user of the catalog: which certificates they hold, and until when. */
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
