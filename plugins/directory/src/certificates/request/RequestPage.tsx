import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { RiUserLine } from '@remixicon/react';
import { useReaderQuery } from '../../api';
import { DirectoryPage } from '../../page';
import { EmptyState, ErrorState } from '../../states';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../mine/CertificatesSkeleton';
import { RequestSteps } from './RequestSteps';

/** `/directory/certificates/request`: how do I get one? */
export function RequestPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data: reader, error, refetch } = useReaderQuery();
  return (
    <DirectoryPage room="certificates" subject={t('certificates.newOne.title')}>
      {reader === undefined &&
        (error ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <CertificatesSkeleton />
        ))}
      {reader === null && (
        <EmptyState
          icon={<RiUserLine />}
          title={t('certificates.stranger.title')}
          description={t('certificates.stranger.description')}
        />
      )}
      {reader && <RequestSteps username={reader} />}
    </DirectoryPage>
  );
}
