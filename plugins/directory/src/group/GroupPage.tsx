import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink, Card, Skeleton } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiGroupLine } from '@remixicon/react';
import { useParams } from 'react-router-dom';
import { DirectoryText } from '../components/DirectoryText';
import { CatalogLink } from '../entity/CatalogLink';
import { DirectoryPage, SideBySide } from '../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../page/states';
import { groupsRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { About, type GroupDetails, useGroup } from './About';
import about from './About.module.css';
import styles from './GroupPage.module.css';
import { IsMember } from './IsMember';
import { Members } from './Members';
import { NestedGroups } from './NestedGroups';
import { Sponsors } from './Sponsors';

/** `/directory/groups/{groupname}`: one group. */
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

/** Shown when the group does not exist. */
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

/**
 * A group: the description stays in view at the left; sponsors, nested groups
 * and members are at the right.
 */
function Group(props: {
  group: GroupDetails;

  /** Whether the page already states that its data is not current. */
  isOld: boolean;
}) {
  const { group, isOld } = props;
  const { groupname } = group;
  return (
    <SideBySide
      subject={
        <>
          <About group={group} />
          <IsMember groupname={groupname} />
        </>
      }
    >
      <div className={styles.parts}>
        <Sponsors groupname={groupname} />
        <NestedGroups groupname={groupname} />
        <Members groupname={groupname} isOld={isOld} />
      </div>
    </SideBySide>
  );
}

/** Placeholder of a group while loading. */
function GroupSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <SideBySide
      loadingLabel={t('states.loading')}
      subject={
        <>
          <Card className={about.card}>
            <Skeleton width="85%" height={20} />
            <Skeleton width="60%" height={20} />
            <Skeleton width="100%" height={150} />
          </Card>
          <Skeleton width="100%" height={140} />
        </>
      }
    >
      <div className={styles.parts}>
        <Skeleton width="100%" height={120} />
        <Skeleton width="100%" height={480} />
      </div>
    </SideBySide>
  );
}
