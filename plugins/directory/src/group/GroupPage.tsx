import { Skeleton, useBreakpoint } from '@backstage/ui';
import { useState } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { EntryPage } from '../entity/EntryPage';
import { groupHeader, type ListedGroup } from '../groups/useGroups';
import { SubjectCard, TwoColumns } from '../page/DirectoryPage';
import { About } from './About';
import { GroupHistory } from './GroupHistory';
import styles from './GroupPage.module.css';
import { Members } from './Members';
import { MembershipCheck } from './MembershipCheck';
import { NestedGroups, useNestedGroups } from './NestedGroups';
import { Sponsors } from './Sponsors';
import { useMembers, useMembersQuery, useSponsors } from './useMembers';

/** `/directory/groups/{groupname}`: one group. */
export function GroupPage({ groupname }: { groupname: string }) {
  const query = useGroup(groupname);
  return (
    <>
      <SectionQueries groupname={groupname} />
      <EntryPage
        kind="group"
        name={groupname}
        query={query}
        nameOf={group => group.groupname}
        titleOf={group => group.groupname}
        skeleton={<GroupSkeleton />}
      >
        {group => (
          <Group
            key={group.groupname}
            group={group}
            isStale={Boolean(query.error)}
          />
        )}
      </EntryPage>
    </>
  );
}

/** Sends the queries of the sections without waiting for that of the group. */
function SectionQueries({ groupname }: { groupname: string }) {
  const [query] = useMembersQuery();
  useSponsors(groupname);
  useNestedGroups(groupname);
  useMembers(groupname, query);
  return null;
}

/**
 * A group: the description stays in view on the left; sponsors, nested groups
 * and members are on the right. On narrow screens, the membership check follows
 * the members.
 */
function Group(props: {
  group: ListedGroup;

  /** Whether the page already reports stale data. */
  isStale: boolean;
}) {
  const { group, isStale } = props;
  const { groupname } = group;
  const isWide = useBreakpoint().up('lg');
  const [checked, setChecked] = useState<string>();
  const check = (
    <MembershipCheck
      groupname={groupname}
      username={checked}
      onUsername={setChecked}
    />
  );
  return (
    <TwoColumns
      subject={
        <>
          <About group={group} />
          {isWide && check}
        </>
      }
    >
      <div className={styles.sections}>
        <Sponsors groupname={groupname} />
        <NestedGroups groupname={groupname} />
        <Members groupname={groupname} isStale={isStale} />
        {!isWide && check}
        <GroupHistory groupname={groupname} />
      </div>
    </TwoColumns>
  );
}

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
      // The mask selects exactly these fields.
      return data.result as ListedGroup;
    },
  });
}
