import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiUserUnfollowLine } from '@remixicon/react';
import { useParams } from 'react-router-dom';
import { DirectoryText } from '../components/DirectoryText';
import { CatalogLink } from '../entity/CatalogLink';
import { DirectoryPage } from '../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../page/states';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { Person } from './Person';
import { PersonSkeleton } from './PersonSkeleton';
import { usePerson } from './usePerson';

/** `/directory/people/{username}`: who is this, how do I reach them? */
export function PersonPage() {
  const { username = '' } = useParams();
  const { data, error, dataUpdatedAt, refetch } = usePerson(username);
  const isGone = isDirectoryResponseError(error) && error.status === 404;

  return (
    <DirectoryPage
      room="people"
      subject={data?.human_name ?? username}
      actions={
        data &&
        !isGone && <CatalogLink kind="user" directoryName={data.username} />
      }
    >
      {error && data && !isGone && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {isGone && <GonePerson username={username} />}
      {data && !isGone && <Person key={data.username} person={data} />}
      {!data && error && !isGone && (
        <ErrorState error={error} onRetry={refetch} />
      )}
      {!data && !error && <PersonSkeleton />}
    </DirectoryPage>
  );
}

/** Nobody has this name, or nobody has it any more. */
function GonePerson({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const people = useRouteRef(peopleRouteRef)?.() ?? '/';
  return (
    <EmptyState
      icon={<RiUserUnfollowLine />}
      title={t('person.gone.title', {
        username: <DirectoryText value={username} />,
      })}
      description={t('person.gone.description')}
      actions={
        <ButtonLink
          variant="primary"
          href={`${people}?${new URLSearchParams({ q: username })}`}
        >
          {t('person.gone.search', {
            username: <DirectoryText value={username} />,
          })}
        </ButtonLink>
      }
    />
  );
}
