import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { CardsSkeleton, PeopleCards } from '../people/PeopleCards';
import { listColleagues } from '../people/searchPeople';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { HomeSection, Note } from './HomeSection';

/** Maximum number of people: fills all rows with one, two or three columns. */
const MAX_PEOPLE = 6;

/** Members of the user's groups, most recently joined first. */
export function Colleagues() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <HomeSection
      title={t('people.colleagues')}
      href={useRouteRef(peopleRouteRef)?.() ?? '/'}
      linkText={t('home.colleagues.more')}
      query={useDirectoryQuery({ key: ['colleagues'], load: listColleagues })}
      skeleton={<CardsSkeleton count={MAX_PEOPLE} />}
    >
      {({ people }) =>
        people.length > 0 ? (
          <PeopleCards people={people.slice(0, MAX_PEOPLE)} />
        ) : (
          <Note>{t('home.colleagues.none')}</Note>
        )
      }
    </HomeSection>
  );
}
