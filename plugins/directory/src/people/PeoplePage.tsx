import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { DirectoryPage } from '../page/DirectoryPage';
import { SearchList } from '../page/SearchList';
import { directoryTranslationRef, formatCount } from '../translation';
import { Filters } from './Filters';
import { usePeopleQuery } from './peopleQuery';
import { PeopleResults, PeopleSkeleton } from './PeopleResults';
import { usePeople } from './usePeople';

/** `/directory/people`: searches and lists users. */
export function PeoplePage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [query, setQuery] = usePeopleQuery();
  const people = usePeople(query);
  const { q, view } = query;

  return (
    <DirectoryPage area="people">
      <SearchList
        query={people}
        label={t('people.search.label')}
        placeholder={t('people.search.placeholder')}
        text={q}
        onSearch={text => setQuery({ q: text }, { replace: true })}
        filters={<Filters filters={query} onChange={setQuery} />}
        view={view}
        onView={next => setQuery({ view: next })}
        total={({ total }) => t('people.total', formatCount(total))}
        skeleton={<PeopleSkeleton view={view} />}
      >
        {result => (
          <PeopleResults
            result={result}
            query={query}
            isOld={people.isPlaceholderData}
            setQuery={setQuery}
          />
        )}
      </SearchList>
    </DirectoryPage>
  );
}
