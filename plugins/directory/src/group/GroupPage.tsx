import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiGroupLine } from '@remixicon/react';
import { useParams } from 'react-router-dom';
import { DirectoryText } from '../components/DirectoryText';
import { CatalogLink } from '../entity/CatalogLink';
import { DirectoryPage } from '../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../page/states';
import { groupsRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { Group } from './Group';
import { GroupSkeleton } from './GroupSkeleton';
import { useGroup } from './useGroup';

/** `/directory/groups/{groupname}`: what is this, who runs it, who is in? */
export function GroupPage() {
  const { groupname = '' } = useParams();
  const { data, error, dataUpdatedAt, refetch } = useGroup(groupname);
  const isGone = isDirectoryResponseError(error) && error.status === 404;

  return (
    <DirectoryPage
      room="groups"
      subject={data?.groupname ?? groupname}
      actions={
        data &&
        !isGone && <CatalogLink kind="group" directoryName={data.groupname} />
      }
    >
      {error && data && !isGone && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {isGone && <GoneGroup groupname={groupname} />}
      {data && !isGone && (
        <Group key={data.groupname} group={data} isOld={Boolean(error)} />
      )}
      {!data && error && !isGone && (
        <ErrorState error={error} onRetry={refetch} />
      )}
      {!data && !error && <GroupSkeleton />}
    </DirectoryPage>
  );
}

/** No group has this name, or none has it any more. */
function GoneGroup({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const groups = useRouteRef(groupsRouteRef)?.() ?? '/';
  return (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('group.gone.title', {
        groupname: <DirectoryText value={groupname} />,
      })}
      description={t('group.gone.description')}
      actions={
        <ButtonLink
          variant="primary"
          href={`${groups}?${new URLSearchParams({ q: groupname })}`}
        >
          {t('group.gone.search', {
            groupname: <DirectoryText value={groupname} />,
          })}
        </ButtonLink>
      }
    />
  );
}
