import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Skeleton, Text } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { visibleText } from '../components/DirectoryText';
import { Pagination, PastEnd } from '../page/Pagination';
import type { View } from '../page/SearchList';
import { EmptyState, LoadingBlocks } from '../page/states';
import { directoryTranslationRef, formatCount } from '../translation';
import { CardsSkeleton, PeopleCards } from './PeopleCards';
import {
  isFiltered,
  NO_FILTERS,
  type PeopleQuery,
  type SetPeopleQuery,
} from './peopleQuery';
import styles from './PeopleResults.module.css';
import { PeopleTable } from './PeopleTable';
import type { MatchedPerson, MatchSection } from './searchPeople';
import type { PeopleList, PeopleResult } from './usePeople';

/** The results of a query: by field, or a list with pages. */
export function PeopleResults(props: {
  result: PeopleResult;
  query: PeopleQuery;
  list: PeopleList;
  setQuery: SetPeopleQuery;
}) {
  const { result, query, list, setQuery } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const shown = result.sections.filter(
    ({ people, error }) => people.length > 0 || error,
  );
  if (shown.length === 0) {
    return <NoPeople query={query} list={list} setQuery={setQuery} />;
  }
  const titleOf = ({ field }: MatchSection) => {
    if (field) {
      return t(`people.field.${field}`);
    }
    return t(`people.${result.list === 'found' ? 'filtered' : result.list}`);
  };
  const isColleagues = result.list === 'colleagues';

  return (
    <>
      {list.kind === 'field' && list.terms.length > 1 && (
        <Button
          size="small"
          variant="tertiary"
          onPress={() => setQuery({ field: undefined })}
        >
          {t('people.backToAll')}
        </Button>
      )}
      {shown.map(section => (
        <PeopleSection
          key={section.field ?? result.list}
          section={section}
          title={titleOf(section)}
          view={query.view}
          onShowAll={
            list.kind === 'fields'
              ? () => setQuery({ field: section.field })
              : undefined
          }
        />
      ))}
      {isColleagues && (
        <Flex mt="4">
          <Button variant="secondary" onPress={() => setQuery({ all: true })}>
            {t('people.showAllPeople')}
          </Button>
        </Flex>
      )}
      {list.kind !== 'fields' && !isColleagues && (
        <Pagination
          page={query.page}
          total={shown[0].total}
          onChange={page => setQuery({ page })}
        />
      )}
    </>
  );
}

export function PeopleSkeleton({ view }: { view: View }) {
  return (
    <>
      <div className={styles.heading}>
        <Skeleton width={180} height={20} />
      </div>
      {view === 'table' ? (
        <LoadingBlocks heights={[560]} />
      ) : (
        <CardsSkeleton count={24} />
      )}
    </>
  );
}

/** Users as cards or as a table. */
export function PeopleView(props: {
  people: readonly MatchedPerson[];
  view: View;
}) {
  const { people, view } = props;
  return view === 'table' ? (
    <PeopleTable people={people} />
  ) : (
    <PeopleCards people={people} />
  );
}

/** The matches of one field, with its name and their number. */
function PeopleSection(props: {
  section: MatchSection;
  title: string;
  view: View;

  /** Shows only the matches of this field, on pages, when there are more. */
  onShowAll?: () => void;
}) {
  const { section, title, view, onShowAll } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { people, total, shownAbove, error, field } = section;
  const count = error
    ? t('people.sectionFailed')
    : [
        ...(field ? [t('people.matches', formatCount(total))] : []),
        ...(shownAbove ? [t('people.shownAbove', { count: shownAbove })] : []),
      ].join(', ');

  return (
    <section className={styles.section}>
      <div className={styles.heading}>
        <Text as="h2" variant="body-large" weight="bold">
          {title}
        </Text>
        <Text variant="body-small" color={error ? 'danger' : 'secondary'}>
          {count}
        </Text>
        {onShowAll && people.length + shownAbove < total && (
          <Button size="small" variant="tertiary" onPress={onShowAll}>
            {t('people.showAll', { total: total.toLocaleString() })}
          </Button>
        )}
      </div>
      {people.length > 0 && <PeopleView people={people} view={view} />}
    </section>
  );
}

/** States what was searched in which fields, with buttons to widen the search. */
function NoPeople(props: {
  query: PeopleQuery;
  list: PeopleList;
  setQuery: SetPeopleQuery;
}) {
  const { query, list, setQuery } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { page, q } = query;
  if (page > 1) {
    return (
      <PastEnd
        icon={<RiUserSearchLine />}
        page={page}
        onChange={first => setQuery({ page: first })}
      />
    );
  }
  const hasFilters = isFiltered(query);
  const canWiden = 'canWiden' in list && list.canWiden;
  const searched = t('people.noResults.searched', {
    text: visibleText(q),
    fields: new Intl.ListFormat(undefined, { type: 'disjunction' }).format(
      searchedTerms(list).map(({ field }) => t(`people.field.${field}`)),
    ),
  });
  const description = () => {
    if (!q) {
      return t(
        hasFilters ? 'people.noResults.filtered' : 'people.noResults.empty',
      );
    }
    return hasFilters
      ? `${searched} ${t('people.noResults.withFilters')}`
      : searched;
  };
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('people.noResults.title')}
      description={description()}
      actions={
        <>
          {hasFilters && (
            <Button onPress={() => setQuery(NO_FILTERS)}>
              {t('people.noResults.dropFilters')}
            </Button>
          )}
          {(canWiden || query.field) && (
            <Button
              variant={hasFilters ? 'secondary' : 'primary'}
              onPress={() => setQuery({ wide: true, field: undefined })}
            >
              {t('people.noResults.allFields')}
            </Button>
          )}
          {q && !hasFilters && (
            <Button
              variant="secondary"
              onPress={() => setQuery({ q: '', wide: false, all: true })}
            >
              {t('people.showAllPeople')}
            </Button>
          )}
        </>
      }
    />
  );
}

function searchedTerms(list: PeopleList) {
  if (list.kind === 'field') {
    return [list.term];
  }
  return list.kind === 'fields' ? list.terms : [];
}
