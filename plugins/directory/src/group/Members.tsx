import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { useMay } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { useHistory } from '../history/useHistory';
import { Section } from '../page/DirectoryPage';
import { Pagination, PastEnd } from '../page/Pagination';
import { isShort, SearchList } from '../page/SearchList';
import { LoadingBlocks } from '../page/loading';
import { EmptyState, SectionError } from '../page/states';
import { directoryTranslationRef, formatCount } from '../translation';
import { ExportButton } from './ExportButton';
import { MembersTable } from './MembersTable';
import {
  MEMBERSHIPS,
  type MembersQuery,
  type SetMembersQuery,
  useJoinTimes,
  useMayReadHistory,
  useMembers,
  useMembersQuery,
} from './useMembers';

/** The members of a group, with server-side paging and search. */
export function Members(props: {
  groupname: string;

  /** Whether the page already reports stale data. */
  isStale: boolean;
}) {
  const { groupname, isStale } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const mayExport = useMay('directory.members.export');
  const [query, setQuery] = useMembersQuery();
  const { q, membership, page } = query;
  const hasHistory = useHasHistory(groupname);
  const members = useMembers(groupname, query);
  const joinTimes = useJoinTimes(groupname, {
    query,
    enabled: hasHistory,
  });

  return (
    <Section
      title={t('group.members.title')}
      actions={
        mayExport && (
          <ExportButton
            groupname={groupname}
            query={query}
            hasHistory={hasHistory}
          />
        )
      }
    >
      <SearchList
        isSection
        query={members}
        label={t('group.members.search')}
        placeholder={t('group.members.placeholder')}
        text={q}
        onSearch={text => setQuery({ q: text }, { replace: true })}
        filters={
          <ToggleButtonGroup
            aria-label={t('group.members.membership')}
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[membership]}
            onSelectionChange={([key]) =>
              setQuery({ membership: key as MembersQuery['membership'] })
            }
          >
            {MEMBERSHIPS.map(one => (
              <ToggleButton key={one} id={one}>
                {t(`group.members.${one}`)}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
        }
        total={({ total, query: of }) =>
          t(`group.members.${totalKey(of)}`, formatCount(total))
        }
        skeleton={<LoadingBlocks heights={[560]} />}
        hidesStaleNotice={isStale}
      >
        {({ people, total, query: of }) => {
          if (people.length === 0) {
            return <NoMembers query={of} setQuery={setQuery} />;
          }
          return (
            <>
              {joinTimes.error && (
                <SectionError
                  error={joinTimes.error}
                  onRetry={joinTimes.refetch}
                />
              )}
              <MembersTable
                groupname={groupname}
                members={people.map(member => ({
                  ...member,
                  joined: joinTimes.data?.get(member.username),
                }))}
                text={of.q}
                hasHistory={hasHistory}
                sort={query.sort}
                onSort={sort =>
                  setQuery({ sort: sort as MembersQuery['sort'] })
                }
              />
              <Pagination
                page={page}
                total={total}
                onChange={next => setQuery({ page: next })}
              />
            </>
          );
        }}
      </SearchList>
    </Section>
  );
}

/** Returns the message for the number of members that a query finds. */
function totalKey({ q, membership }: MembersQuery) {
  if (membership === 'locked') {
    return 'totalLocked';
  }
  return q || membership !== 'all' ? 'found' : 'total';
}

/**
 * Whether to read the join times of members: only if the history is available
 * to the user.
 */
function useHasHistory(groupname: string): boolean {
  const enabled = useMayReadHistory(groupname);
  // The history section uses the same first page.
  const { error } = useHistory({
    kind: 'group',
    name: groupname,
    page: 1,
    enabled,
  });
  return enabled && !error;
}

/** Explains why no members are shown, with a button that shows all members. */
function NoMembers(props: { query: MembersQuery; setQuery: SetMembersQuery }) {
  const { query, setQuery } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { q, membership, page } = query;
  if (page > 1) {
    return (
      <PastEnd
        icon={<RiUserSearchLine />}
        page={page}
        onChange={first => setQuery({ page: first })}
      />
    );
  }
  if (!q && membership === 'all') {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('group.members.empty')}
        description={t('group.members.no.all')}
      />
    );
  }
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t(
        membership === 'locked'
          ? 'group.members.noMatchLocked'
          : 'group.members.noMatch',
      )}
      description={
        q
          ? [
              t('group.members.searched', { text: visibleText(q) }),
              ...(isShort(q) ? [t('search.short')] : []),
            ].join(' ')
          : t(`group.members.no.${membership}`)
      }
      actions={
        <Button onPress={() => setQuery({ q: '', membership: 'all' })}>
          {t('group.members.showAll')}
        </Button>
      }
    />
  );
}
