import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Link, Skeleton, Text } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { PAGE_SIZE, Pagination, PastEnd } from '../page/Pagination';
import { isShort } from '../page/SearchList';
import { EmptyState } from '../page/states';
import { groupRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { CardsSkeleton, PeopleCards } from './PeopleCards';
import {
  isFiltered,
  NO_FILTERS,
  type PeopleQuery,
  type SetPeopleQuery,
} from './peopleQuery';
import styles from './PeopleResults.module.css';
import type { PeopleResult } from './usePeople';

/** The results of a query, with pagination. */
export function PeopleResults(props: {
  result: PeopleResult;

  /** The query in the URL. */
  query: PeopleQuery;
  setQuery: SetPeopleQuery;
}) {
  const { result, query, setQuery } = props;
  const { list, people, total, groups = [] } = result;
  const { t } = useTranslationRef(directoryTranslationRef);

  return (
    <>
      {groups.length > 0 && <Groups names={groups} />}
      {people.length === 0 ? (
        <NoPeople
          query={result.query}
          isKey={list === 'key'}
          setQuery={setQuery}
        />
      ) : (
        <>
          {list !== 'found' && (
            <Text
              as="h2"
              variant="body-large"
              weight="bold"
              className={styles.heading}
            >
              {t(`people.${list}`)}
            </Text>
          )}
          <PeopleCards
            people={people}
            text={list === 'found' ? result.query.q : undefined}
          />
          {list === 'colleagues' ? (
            <Flex mt="4">
              <Button
                variant="secondary"
                onPress={() => setQuery({ all: true })}
              >
                {t('people.showAllPeople')}
              </Button>
            </Flex>
          ) : (
            <Pagination
              page={query.page}
              total={total}
              onChange={page => setQuery({ page })}
            />
          )}
        </>
      )}
    </>
  );
}

/** Links to the groups whose names contain the search text. */
function Groups({ names }: { names: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  return (
    <div className={styles.heading}>
      <Text as="h2" variant="body-large" weight="bold">
        {t('people.groups')}
      </Text>
      {names.map(name => (
        <Link key={name} href={href?.({ groupname: name }) ?? ''}>
          <DirectoryText value={name} />
        </Link>
      ))}
    </div>
  );
}

export function PeopleSkeleton() {
  return (
    <>
      <div className={styles.heading}>
        <Skeleton width={180} height={20} />
      </div>
      <CardsSkeleton count={PAGE_SIZE} />
    </>
  );
}

/** Explains why the list is empty, with buttons that show other people. */
function NoPeople(props: {
  query: PeopleQuery;

  /** Whether the query is a public key or a fingerprint. */
  isKey: boolean;
  setQuery: SetPeopleQuery;
}) {
  const { query, isKey, setQuery } = props;
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
  const reasons = [
    ...(isKey ? [t('people.noResults.key')] : []),
    ...(q && !isKey
      ? [t('people.noResults.searched', { text: visibleText(q) })]
      : []),
    ...(isShort(q) ? [t('search.short')] : []),
    ...(hasFilters
      ? [t(q ? 'people.noResults.withFilters' : 'people.noResults.filtered')]
      : []),
  ];
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('people.noResults.title')}
      description={reasons.join(' ') || t('people.noResults.empty')}
      actions={
        <>
          {hasFilters && (
            <Button onPress={() => setQuery(NO_FILTERS)}>
              {t('people.noResults.dropFilters')}
            </Button>
          )}
          {q && !hasFilters && (
            <Button
              variant="secondary"
              onPress={() => setQuery({ q: '', all: true })}
            >
              {t('people.showAllPeople')}
            </Button>
          )}
        </>
      }
    />
  );
}
