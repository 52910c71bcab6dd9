import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { RiShieldKeyholeLine, RiUserLine } from '@remixicon/react';
import { useOperations, useReaderQuery } from '../../api/useDirectoryQuery';
import { DirectoryPage } from '../../page/DirectoryPage';
import { EmptyState, ErrorState } from '../../page/states';
import { certificatesRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../mine/CertificatesSkeleton';
import { RequestSteps } from './RequestSteps';
import { useProfiles } from './useProfiles';

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
      {reader && <Allowed username={reader} />}
    </DirectoryPage>
  );
}

/** The steps for users who may request certificates; a notice for others. */
function Allowed({ username }: { username: string }) {
  const { data: operations, error, refetch } = useOperations();
  if (!operations) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <CertificatesSkeleton />
    );
  }
  return operations.has('directory.certificate.sign') ? (
    <Request username={username} />
  ) : (
    <NotAllowed />
  );
}

function NotAllowed() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  return (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={t('certificates.notAllowed.title')}
      description={t('certificates.notAllowed.description')}
      actions={
        <ButtonLink variant="primary" href={mine}>
          {t('certificates.details.mine')}
        </ButtonLink>
      }
    />
  );
}

/** The steps, once it is known what there is to choose from. */
function Request({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  const { data: profiles, error, refetch } = useProfiles();
  if (!profiles) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <CertificatesSkeleton />
    );
  }
  return profiles.length > 0 ? (
    <RequestSteps username={username} profiles={profiles} />
  ) : (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={t('certificates.newOne.profile.none.title')}
      description={t('certificates.newOne.profile.none.description')}
      actions={
        <ButtonLink variant="primary" href={mine}>
          {t('certificates.details.mine')}
        </ButtonLink>
      }
    />
  );
}
