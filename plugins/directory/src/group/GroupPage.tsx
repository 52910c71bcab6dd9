import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { useParams } from 'react-router-dom';
import { isNotFound, useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { CatalogLink } from '../entity/CatalogLink';
import { groupHeader, type ListedGroup } from '../groups/useGroups';
import { DirectoryPage, SubjectCard, TwoColumns } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import { NotFound } from '../page/states';
import { groupsRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { About } from './About';
import styles from './GroupPage.module.css';
import { Members } from './Members';
import { MembershipCheck } from './MembershipCheck';
import { NestedGroups } from './NestedGroups';
import { Sponsors } from './Sponsors';

/** `/directory/groups/{groupname}`: one group. */
export function GroupPage() {
  const { groupname = '' } = useParams();
  const { t } = useTranslationRef(directoryTranslationRef);
  const groups = useRouteRef(groupsRouteRef)?.() ?? '/';
  const query = useGroup(groupname);
  const { data, error } = query;

  return (
    <DirectoryPage
      area="groups"
      subject={data?.groupname ?? groupname}
      actions={
        data &&
        !isNotFound(error) && (
          <CatalogLink kind="group" directoryName={data.groupname} />
        )
      }
    >
      <QueryPanel
        query={query}
        skeleton={<GroupSkeleton />}
        notFound={
          <NotFound
            icon={<RiGroupLine />}
            title={t('group.notFound', {
              groupname: <DirectoryText value={groupname} />,
            })}
            name={groupname}
            searchPath={groups}
          />
        }
      >
        {group => (
          <Group key={group.groupname} group={group} isStale={Boolean(error)} />
        )}
      </QueryPanel>
    </DirectoryPage>
  );
}

/**
 * A group: the description stays in view at the left; sponsors, nested groups
 * and members are at the right.
 */
function Group(props: {
  group: ListedGroup;

  /** Whether the page already states that its data is not current. */
  isStale: boolean;
}) {
  const { group, isStale } = props;
  const { groupname } = group;
  return (
    <TwoColumns
      subject={
        <>
          <About group={group} />
          <MembershipCheck groupname={groupname} />
        </>
      }
    >
      <div className={styles.sections}>
        <Sponsors groupname={groupname} />
        <NestedGroups groupname={groupname} />
        <Members groupname={groupname} isStale={isStale} />
      </div>
    </TwoColumns>
  );
}

/** Placeholder of a group while loading. */
function GroupSkeleton() {
  return (
    <TwoColumns
      isLoading
      subject={
        <>
          <SubjectCard>
            <Skeleton width="85%" height={20} />
            <Skeleton width="60%" height={20} />
            <Skeleton width="100%" height={150} />
          </SubjectCard>
          <Skeleton width="100%" height={140} />
        </>
      }
    >
      <div className={styles.sections}>
        <Skeleton width="100%" height={120} />
        <Skeleton width="100%" height={480} />
      </div>
    </TwoColumns>
  );
}

function useGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['group', groupname],
    load: async (client, signal) => {
      const { data } = await client.get('/groups/{groupname}/', {
        params: { path: { groupname }, header: groupHeader },
        signal,
      });
      // The mask selects exactly these fields, so that none is missing.
      return data.result as ListedGroup;
    },
  });
}
