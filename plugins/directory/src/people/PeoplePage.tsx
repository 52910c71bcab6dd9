import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { DirectoryPage } from '../page/DirectoryPage';
import { SearchList } from '../page/SearchList';
import { directoryTranslationRef, formatCount } from '../translation';
import { Filters } from './Filters';
import { usePeopleQuery } from './peopleQuery';
import { PeopleResults, PeopleSkeleton } from './PeopleResults';
import { selectList, usePeople } from './usePeople';

/** `/directory/people`: searches and lists users. */
export function PeoplePage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [query, setQuery] = usePeopleQuery();
  const list = selectList(query);
  const { q, view } = query;

  return (
    <DirectoryPage area="people">
      <SearchList
        query={usePeople(query, list)}
        label={t('people.search.label')}
        placeholder={t('people.search.placeholder')}
        text={q}
        isTooShort={list.kind === 'tooShort'}
        onSearch={text =>
          setQuery(
            { q: text, field: undefined, wide: false },
            { replace: true },
          )
        }
        filters={<Filters filters={query} onChange={setQuery} />}
        view={view}
        onView={next => setQuery({ view: next })}
        total={({ count, isExact }) =>
          isExact
            ? t('people.total', formatCount(count))
            : t('people.totalAtLeast', { total: count.toLocaleString() })
        }
        skeleton={<PeopleSkeleton view={view} />}
      >
        {result => (
          <PeopleResults
            result={result}
            query={query}
            list={list}
            setQuery={setQuery}
          />
        )}
      </SearchList>
    </DirectoryPage>
  );
}
