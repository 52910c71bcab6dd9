import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { visibleText } from '../components/DirectoryText';
import { DirectoryPage } from '../page/DirectoryPage';
import { Pagination, PastEnd } from '../page/Pagination';
import { isShort, SearchList } from '../page/SearchList';
import { EmptyState, LoadingBlocks } from '../page/states';
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
  const { q, page } = query;
  const list = useGroups(query);

  return (
    <DirectoryPage area="groups">
      <SearchList
        query={list}
        label={t('groups.search.label')}
        placeholder={t('groups.search.placeholder')}
        text={q}
        onSearch={text => setQuery({ q: text }, { replace: true })}
        total={({ total }) => t('groups.total', formatCount(total))}
        skeleton={<LoadingBlocks heights={SKELETON} />}
      >
        {({ groups, total }) =>
          groups.length === 0 ? (
            <NoGroups query={query} setQuery={setQuery} />
          ) : (
            <>
              <GroupsTable
                groups={groups}
                text={list.isPlaceholderData ? '' : q}
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

/** States why there is no group to show, with a button that shows others. */
function NoGroups(props: { query: GroupsQuery; setQuery: SetGroupsQuery }) {
  const { query, setQuery } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { q, page } = query;
  if (page > 1) {
    return (
      <PastEnd
        icon={<RiGroupLine />}
        page={page}
        onChange={first => setQuery({ page: first })}
      />
    );
  }
  return q ? (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('groups.noResults.title')}
      description={[
        t('groups.noResults.searched', { text: visibleText(q) }),
        ...(isShort(q) ? [t('search.short')] : []),
      ].join(' ')}
      actions={
        <Button onPress={() => setQuery({ q: '' })}>
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
