import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { RiUserLine } from '@remixicon/react';
import { useCurrentUser } from '../api/useDirectoryQuery';
import { DirectoryPage } from '../page/DirectoryPage';
import { SearchList } from '../page/SearchList';
import { personRouteRef } from '../routes';
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

  return (
    <DirectoryPage area="people" actions={<MyProfile />}>
      <SearchList
        query={people}
        label={t('people.search.label')}
        placeholder={t('people.search.placeholder')}
        text={query.q}
        onSearch={text => setQuery({ q: text }, { replace: true })}
        filters={<Filters filters={query} onChange={setQuery} />}
        total={({ total }) => t('people.total', formatCount(total))}
        skeleton={<PeopleSkeleton />}
      >
        {result => (
          <PeopleResults result={result} query={query} setQuery={setQuery} />
        )}
      </SearchList>
    </DirectoryPage>
  );
}

/** Link to the user's own page; empty without a directory user. */
function MyProfile() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const username = useCurrentUser().data;
  return username ? (
    <ButtonLink
      variant="secondary"
      href={href?.({ username }) ?? ''}
      iconStart={<RiUserLine />}
    >
      {t('people.mine')}
    </ButtonLink>
  ) : null;
}
