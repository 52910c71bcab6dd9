import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { useMay } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { Section } from '../page/DirectoryPage';
import { Pagination, PastEnd } from '../page/Pagination';
import { isShort, SearchList } from '../page/SearchList';
import { EmptyState } from '../page/states';
import { CardsSkeleton } from '../people/PeopleCards';
import { PeopleView } from '../people/PeopleResults';
import { directoryTranslationRef, formatCount } from '../translation';
import { ExportButton } from './ExportButton';
import {
  MEMBERSHIPS,
  type MembersQuery,
  type SetMembersQuery,
  useMembers,
  useMembersQuery,
} from './useMembers';

/** The members of a group, on pages, searched by the server. */
export function Members(props: {
  groupname: string;

  /** Whether the page already states that its data is not current. */
  isStale: boolean;
}) {
  const { groupname, isStale } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const mayExport = useMay('directory.members.export');
  const [query, setQuery] = useMembersQuery();
  const { q, membership, page, view } = query;
  const members = useMembers(groupname, query);
  const isAll = !q && membership === 'all';

  return (
    <Section
      title={t('group.members.title')}
      actions={mayExport && <ExportButton groupname={groupname} />}
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
        view={view}
        onView={next => setQuery({ view: next })}
        total={({ total }) =>
          t(
            isAll ? 'group.members.total' : 'group.members.found',
            formatCount(total),
          )
        }
        skeleton={<CardsSkeleton count={12} />}
        hidesStaleNotice={isStale}
      >
        {({ people, total }) =>
          people.length === 0 ? (
            <NoMembers query={query} setQuery={setQuery} />
          ) : (
            <>
              <PeopleView
                people={people}
                text={members.isPlaceholderData ? undefined : q}
                view={view}
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
    </Section>
  );
}

/** States why there is no member to show, with a button that shows others. */
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
        description={t('group.members.emptyHint')}
      />
    );
  }
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('group.members.noMatch')}
      description={
        q
          ? [
              t('group.members.searched', { text: visibleText(q) }),
              ...(isShort(q) ? [t('search.short')] : []),
            ].join(' ')
          : t(
              membership === 'direct'
                ? 'group.members.noDirect'
                : 'group.members.noIndirect',
            )
      }
      actions={
        <Button onPress={() => setQuery({ q: '', membership: 'all' })}>
          {t('group.members.showAll')}
        </Button>
      }
    />
  );
}
