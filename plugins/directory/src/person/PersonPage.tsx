import {
  coreApis,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { ButtonLink, Skeleton, Switch, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiEditLine } from '@remixicon/react';
import { useState } from 'react';
import {
  useCurrentUser,
  useDirectoryQuery,
  useOperations,
} from '../api/useDirectoryQuery';
import { safeHref } from '../components/safeHref';
import { EntryPage } from '../entity/EntryPage';
import { SubjectCard, TwoColumns } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import { useMemberships } from './GroupsTab';
import { Identity } from './Identity';
import styles from './PersonPage.module.css';
import { PersonTabs } from './PersonTabs';

/** `/directory/people/{username}`: one user. */
export function PersonPage({ username }: { username: string }) {
  const [publicName, setPublicName] = useState<string>();
  const hiddenFields = useOperations().data?.hidden_fields;
  const viewOf = (person: User) =>
    publicName === person.username && hiddenFields
      ? publicView(person, hiddenFields)
      : person;
  return (
    <>
      <TabQueries username={username} />
      <EntryPage
        kind="user"
        name={username}
        query={usePerson(username)}
        nameOf={person => person.username}
        titleOf={person => viewOf(person).human_name ?? username}
        skeleton={<PersonSkeleton />}
      >
        {person => (
          <Person
            key={person.username}
            person={viewOf(person)}
            asOthers={publicName === person.username}
            onAsOthers={asOthers =>
              setPublicName(asOthers ? person.username : undefined)
            }
          />
        )}
      </EntryPage>
    </>
  );
}

/** Sends the queries of the first tab without waiting for that of the user. */
function TabQueries({ username }: { username: string }) {
  useMemberships(username);
  return null;
}

/**
 * A user: the identity stays in view on the left, the tabs are on the right.
 * Users can view their own page as others see it.
 */
function Person(props: OwnProfileProps) {
  const { person, asOthers } = props;
  const { data: currentUser } = useCurrentUser();
  const isOwn = currentUser === person.username;
  return (
    <TwoColumns
      subject={
        <>
          <Identity person={person} isOwn={isOwn && !asOthers} />
          {isOwn && <OwnProfile {...props} />}
        </>
      }
    >
      <PersonTabs person={person} asOthers={asOthers} />
    </TwoColumns>
  );
}

function PersonSkeleton() {
  return (
    <TwoColumns
      isLoading
      subject={
        <SubjectCard>
          <Skeleton width={88} height={88} rounded />
          <Skeleton width="70%" height={28} />
          <Skeleton width="45%" height={18} />
          <Skeleton width="60%" height={18} />
          <Skeleton width="100%" height={180} />
        </SubjectCard>
      }
    >
      <Skeleton width="60%" height={36} />
      <Skeleton width="100%" height={360} style={{ marginTop: 16 }} />
    </TwoColumns>
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

interface OwnProfileProps {
  person: User;

  /** Whether the profile is shown as others see it. */
  asOthers: boolean;
  onAsOthers: (asOthers: boolean) => void;
}

/** Shown on the user's own page: the view of other users, and a link to edit. */
function OwnProfile(props: OwnProfileProps) {
  const { person, asOthers, onAsOthers } = props;
  const { data: operations, isFetched } = useOperations();
  const { t } = useTranslationRef(directoryTranslationRef);
  const template = useApi(coreApis.config).getOptionalString(
    'directory.pages.editProfileUrl',
  );
  const editUrl =
    template &&
    safeHref(
      template.replaceAll('{username}', encodeURIComponent(person.username)),
    );

  return (
    <SubjectCard>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('person.own.title')}
      </Text>
      <Switch
        label={t('person.own.asOthers')}
        isSelected={asOthers}
        isDisabled={!operations}
        onChange={onAsOthers}
      />
      <p role="status" className={styles.note}>
        {isFetched && !operations && t('person.own.unavailable')}
        {asOthers &&
          t(person.is_private ? 'person.own.private' : 'person.own.public')}
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
    </SubjectCard>
  );
}

/** Returns a user as others see the profile. */
function publicView(person: User, hiddenFields: readonly string[]): User {
  const hidden = Object.fromEntries(hiddenFields.map(name => [name, null]));
  return person.is_private ? { ...person, ...hidden } : person;
}
