import {
  useApiHolder,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { visitsApiRef } from '@backstage/plugin-home';
import { useEffect, useState } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { CardsSkeleton, PeopleCards } from '../people/PeopleCards';
import { findPerson } from '../people/searchPeople';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { HomeSection, Note } from './HomeSection';

/** Maximum number of people. */
const MAX_PEOPLE = 4;

/** People whose pages the user has opened, most recent first. */
export function RecentPeople() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(peopleRouteRef)?.() ?? '/';
  const usernames = useVisitedUsernames(href);
  const query = useDirectoryQuery({
    key: ['recent-people', usernames],
    enabled: usernames !== undefined,
    load: async (client, signal) => {
      const found = await Promise.all(
        usernames!.map(username => findPerson(client, { username, signal })),
      );
      return found.filter(person => person !== undefined);
    },
  });

  return (
    <HomeSection
      title={t('home.recent.title')}
      href={`${href}?all`}
      linkText={t('home.recent.all')}
      query={query}
      skeleton={<CardsSkeleton count={1} />}
    >
      {people =>
        people.length > 0 ? (
          <PeopleCards people={people} />
        ) : (
          <Note>{t('home.recent.none')}</Note>
        )
      }
    </HomeSection>
  );
}

/**
 * Returns the user names of the most recently visited person pages; empty if
 * the portal does not record visits, `undefined` while loading.
 */
function useVisitedUsernames(href: string): readonly string[] | undefined {
  const visits = useApiHolder().get(visitsApiRef);
  const [usernames, setUsernames] = useState<readonly string[]>();

  useEffect(() => {
    const load = async () => {
      const path = `${href}/`;
      const list = await visits?.list({
        limit: MAX_PEOPLE,
        orderBy: [{ field: 'timestamp', direction: 'desc' }],
        filterBy: [{ field: 'pathname', operator: 'contains', value: path }],
      });
      return (list ?? []).map(({ pathname }) =>
        decodeURIComponent(pathname.slice(path.length)),
      );
    };
    // Without readable visits, the list is empty.
    load().then(setUsernames, () => setUsernames([]));
  }, [visits, href]);

  return usernames;
}
