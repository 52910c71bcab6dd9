import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { ButtonLink, Card, Skeleton, Switch, Text } from '@backstage/ui';
import {
  isDirectoryResponseError,
  type User,
} from '@directory-gateway/backstage-plugin-directory-common';
import { RiEditLine, RiUserUnfollowLine } from '@remixicon/react';
import { useState } from 'react';
import { useParams } from 'react-router-dom';
import { useDirectoryQuery, useReader } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { safeHref } from '../components/safeHref';
import { CatalogLink } from '../entity/CatalogLink';
import { DirectoryPage, SideBySide } from '../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../page/states';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { Identity } from './Identity';
import identity from './Identity.module.css';
import styles from './PersonPage.module.css';
import { PersonTabs } from './PersonTabs';

/** `/directory/people/{username}`: one user. */
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

/** Shown when the user does not exist. */
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

/**
 * A user: the identity stays in view at the left, tabs are at the right. Users
 * can show their own page as others see it.
 */
function Person({ person }: { person: User }) {
  const reader = useReader();
  const [asOthers, setAsOthers] = useState(false);
  const isOwn = reader === person.username;
  const shown = asOthers ? hidePrivateFields(person) : person;

  return (
    <SideBySide
      subject={
        <>
          <Identity person={shown} isOwn={isOwn && !asOthers} />
          {isOwn && (
            <OwnProfile
              person={person}
              asOthers={asOthers}
              onAsOthers={setAsOthers}
            />
          )}
        </>
      }
    >
      <PersonTabs person={shown} />
    </SideBySide>
  );
}

/** Placeholder of a user while loading. */
function PersonSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <SideBySide
      loadingLabel={t('states.loading')}
      subject={
        <Card className={identity.card}>
          <Skeleton width={88} height={88} rounded />
          <Skeleton width="70%" height={28} />
          <Skeleton width="45%" height={18} />
          <Skeleton width="60%" height={18} />
          <Skeleton width="100%" height={180} />
        </Card>
      }
    >
      <Skeleton width="60%" height={36} />
      <Skeleton width="100%" height={360} style={{ marginTop: 16 }} />
    </SideBySide>
  );
}

function usePerson(username: string) {
  return useDirectoryQuery({
    key: ['person', username],
    load: async (client, signal) => {
      const { data } = await client.get('/users/{username}/', {
        params: { path: { username } },
        signal,
      });
      return data.result;
    },
  });
}

/** Shown to the user only: how others see the profile, and a link to edit it. */
function OwnProfile(props: {
  person: User;

  /** Whether the profile is shown as other users see it. */
  asOthers: boolean;
  onAsOthers: (asOthers: boolean) => void;
}) {
  const { person, asOthers, onAsOthers } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const template = useApi(configApiRef).getOptionalString(
    'directory.pages.editProfileUrl',
  );
  const editUrl =
    template &&
    safeHref(
      template.replaceAll('{username}', encodeURIComponent(person.username)),
    );

  return (
    <Card className={styles.card}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.own.title')}
      </Text>
      <Switch
        label={t('person.own.othersSee')}
        isSelected={asOthers}
        onChange={onAsOthers}
      />
      <p role="status" className={styles.note}>
        {asOthers &&
          t(person.is_private ? 'person.own.hidden' : 'person.own.allPublic')}
      </p>
      {editUrl && (
        <ButtonLink
          href={editUrl}
          target="_blank"
          rel="noopener noreferrer"
          variant="secondary"
          iconStart={<RiEditLine />}
        >
          {t('person.own.edit')}
        </ButtonLink>
      )}
    </Card>
  );
}

/** Attributes that a private profile hides by default. */
const HIDDEN = {
  human_name: null,
  surname: null,
  givenname: null,
  ircnicks: null,
  locale: null,
  timezone: null,
  gpgkeyids: null,
  sshpubkeys: null,
  github_username: null,
  gitlab_username: null,
  pronouns: null,
  websites: null,
  rssurls: null,
} satisfies Partial<User>;

/** Returns a user as other users see them. */
function hidePrivateFields(person: User): User {
  return person.is_private ? { ...person, ...HIDDEN } : person;
}
