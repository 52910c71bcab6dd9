import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { RiAddLine, RiShieldKeyholeLine, RiUserLine } from '@remixicon/react';
import { useMemo } from 'react';
import { useMay, useReaderQuery } from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { DirectoryPage } from '../../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../../page/states';
import { requestCertificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../Facts';
import { OpenBySerial } from '../Serial';
import {
  type MyCertificate,
  orderByEnd,
  useMyCertificates,
} from '../userCertificates';
import styles from './CertificatesPage.module.css';
import { CertificatesTable } from './CertificatesTable';
import { Timeline } from './Timeline';

/** `/directory/certificates`: the user's own certificates. */
export function CertificatesPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const request = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  const { data: reader, error, refetch } = useReaderQuery();
  const mine = useMyCertificates(reader);
  // Users without certificates see the button in place of the list.
  const hasNone = mine.data?.length === 0;
  const mayRequest = useMay('directory.certificate.sign');
  const offersAnother =
    mayRequest && !hasNone && Boolean(mine.error ?? mine.data);

  return (
    <DirectoryPage
      room="certificates"
      actions={
        offersAnother && (
          <ButtonLink
            variant="primary"
            href={request}
            iconStart={<RiAddLine />}
          >
            {t('certificates.request')}
          </ButtonLink>
        )
      }
    >
      <div className={styles.page}>
        {reader === undefined && error && (
          <ErrorState error={error} onRetry={refetch} />
        )}
        {reader === null && (
          <EmptyState
            icon={<RiUserLine />}
            title={t('certificates.stranger.title')}
            description={t('certificates.stranger.description')}
          />
        )}
        {reader !== null && !(reader === undefined && error) && (
          <Mine username={reader} requestHref={request} />
        )}
        <OpenBySerial />
      </div>
    </DirectoryPage>
  );
}

function Mine(props: { username: string | undefined; requestHref: string }) {
  const { username, requestHref } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error, dataUpdatedAt, refetch } = useMyCertificates(username);
  const mayRequest = useMay('directory.certificate.sign');

  if (!data) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <CertificatesSkeleton />
    );
  }
  return (
    <>
      {error && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {data.length === 0 ? (
        <EmptyState
          icon={<RiShieldKeyholeLine />}
          title={t('certificates.none.title')}
          description={t('certificates.none.description')}
          actions={
            mayRequest && (
              <ButtonLink variant="primary" href={requestHref}>
                {t('certificates.request')}
              </ButtonLink>
            )
          }
        />
      ) : (
        <Certificates certificates={data} />
      )}
    </>
  );
}

function Certificates({ certificates }: { certificates: MyCertificate[] }) {
  const now = useNow();
  const ordered = useMemo(
    () => orderByEnd(certificates, now),
    [certificates, now],
  );
  return (
    <>
      <Timeline certificates={ordered} now={now} />
      <CertificatesTable certificates={ordered} now={now} />
    </>
  );
}
