import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { useCurrentUser } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { DirectoryPage } from '../page/DirectoryPage';
import { Pagination, PastEnd } from '../page/Pagination';
import { isShort, SearchList } from '../page/SearchList';
import { LoadingBlocks } from '../page/loading';
import { EmptyState } from '../page/states';
import { directoryTranslationRef, formatCount } from '../translation';
import { GroupsTable } from './GroupsTable';
import {
  type GroupsQuery,
  type SetGroupsQuery,
  useGroups,
  useGroupsQuery,
} from './useGroups';

/** Heights of a header and twelve rows, in pixels. */
const SKELETON = [36, ...Array<number>(12).fill(40)];

/** `/directory/groups`: searches and lists groups. */
export function GroupsPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [query, setQuery] = useGroupsQuery();
  const { q, mine, page } = query;
  const { data: user, isPending } = useCurrentUser();
  const list = useGroups(query, {
    member: (mine && user) || undefined,
    enabled: !(mine && isPending),
  });

  return (
    <DirectoryPage area="groups">
      <SearchList
        query={list}
        label={t('groups.search.label')}
        placeholder={t('groups.search.placeholder')}
        text={q}
        onSearch={text => setQuery({ q: text }, { replace: true })}
        filters={
          user && (
            <ToggleButtonGroup
              aria-label={t('groups.filter.label')}
              selectionMode="single"
              disallowEmptySelection
              selectedKeys={[mine ? 'mine' : 'all']}
              onSelectionChange={([key]) => setQuery({ mine: key === 'mine' })}
            >
              {(['all', 'mine'] as const).map(one => (
                <ToggleButton key={one} id={one}>
                  {t(`groups.filter.${one}`)}
                </ToggleButton>
              ))}
            </ToggleButtonGroup>
          )
        }
        total={({ total }) => t('groups.total', formatCount(total))}
        skeleton={<LoadingBlocks heights={SKELETON} />}
      >
        {({ groups, total, query: of }) =>
          groups.length === 0 ? (
            <NoGroups query={of} setQuery={setQuery} />
          ) : (
            <>
              <GroupsTable
                groups={groups}
                text={of.q}
                sort={query.sort ?? (q ? undefined : 'groupname')}
                onSort={sort => setQuery({ sort: sort as GroupsQuery['sort'] })}
              />
              <Pagination
                page={page}
                total={total}
                onChange={next => setQuery({ page: next })}
              />
            </>
          )
        }
      </SearchList>
    </DirectoryPage>
  );
}

/** Explains why no groups are shown, with a button that shows all groups. */
function NoGroups(props: { query: GroupsQuery; setQuery: SetGroupsQuery }) {
  const { query, setQuery } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { q, mine, page } = query;
  if (page > 1) {
    return (
      <PastEnd
        icon={<RiGroupLine />}
        page={page}
        onChange={first => setQuery({ page: first })}
      />
    );
  }
  return q || mine ? (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('groups.noResults.title')}
      description={[
        q
          ? t(
              mine
                ? 'groups.noResults.searchedMine'
                : 'groups.noResults.searched',
              { text: visibleText(q) },
            )
          : t('groups.noResults.mine'),
        ...(isShort(q) ? [t('search.short')] : []),
      ].join(' ')}
      actions={
        <Button onPress={() => setQuery({ q: '', mine: false })}>
          {t('groups.noResults.showAll')}
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('groups.noResults.empty')}
      description={t('groups.noResults.emptyHint')}
    />
  );
}
