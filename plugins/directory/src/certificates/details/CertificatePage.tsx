import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { ReactNode } from 'react';
import { useParams } from 'react-router-dom';
import { DirectoryText } from '../../components/DirectoryText';
import { DirectoryPage } from '../../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../../page/states';
import { certificatesRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../mine/CertificatesSkeleton';
import { OpenBySerial } from '../OpenBySerial';
import { readSerial } from '../readSerial';
import { shortenSerial } from '../shortenSerial';
import { CertificateActionBar } from './CertificateActionBar';
import { CertificateView } from './CertificateView';
import { useCertificate } from './useCertificate';

/** `/directory/certificates/{serial}`: what does this certificate say? */
export function CertificatePage() {
  const { serial: text = '' } = useParams();
  const { t } = useTranslationRef(directoryTranslationRef);
  const serial = readSerial(text);
  const { data, error, dataUpdatedAt, refetch } = useCertificate(serial);
  const decimal = String(serial ?? text);
  const isGone = isDirectoryResponseError(error) && error.status === 404;

  return (
    <DirectoryPage
      room="certificates"
      subject={t('certificates.details.title', {
        serial: shortenSerial(decimal),
      })}
      actions={data && !isGone && <CertificateActionBar details={data} />}
    >
      {error && data && !isGone && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {data && !isGone && <CertificateView details={data} />}
      {serial === undefined && (
        <NoCertificate
          title={t('certificates.details.notSerial.title', {
            text: <DirectoryText value={text} />,
          })}
          description={t('certificates.details.notSerial.description')}
        />
      )}
      {isGone && (
        <NoCertificate
          title={t('certificates.details.gone.title', { serial: decimal })}
          description={t('certificates.details.gone.description')}
        />
      )}
      {!data && error && !isGone && (
        <ErrorState error={error} onRetry={refetch} />
      )}
      {!data && !error && serial !== undefined && <CertificatesSkeleton />}
    </DirectoryPage>
  );
}

/** Why there is nothing to see, and the ways on. */
function NoCertificate(props: { title: ReactNode; description: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  return (
    <>
      <EmptyState
        {...props}
        icon={<RiShieldKeyholeLine />}
        actions={
          <ButtonLink variant="primary" href={mine}>
            {t('certificates.details.mine')}
          </ButtonLink>
        }
      />
      <OpenBySerial />
    </>
  );
}
