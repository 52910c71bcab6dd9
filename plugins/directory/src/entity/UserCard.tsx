import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { ColoredAvatar } from '../components/Avatar';
import { LocalTime } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { GroupLink } from '../components/EntryLink';
import { knownTimeZone } from '../components/timeZones';
import { PersonBadges } from '../people/PeopleCards';
import { personRouteRef } from '../routes';
import { directoryTranslationRef, formatCount } from '../translation';
import {
  DirectoryCard,
  MAX_NAMES,
  NameLine,
  useDirectoryName,
} from './DirectoryCard';
import styles from './DirectoryCard.module.css';

/** Card with the identity and groups of a catalog user in the directory. */
export function UserCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const username = useDirectoryName();
  const href = useRouteRef(personRouteRef);

  return (
    <DirectoryCard
      title={t('entity.title')}
      unknown={t('entity.user.unknown', { name: username })}
      query={useDirectoryUser(username)}
      href={href?.({ username }) ?? ''}
      linkText={t('entity.open')}
    >
      {({ person, groups, groupCount }) => (
        <>
          <Identity person={person} />
          <NameLine
            title={t('entity.user.groups', formatCount(groupCount))}
            total={groupCount}
            shown={groups.length}
            none={t('entity.user.noGroups')}
          >
            {groups.map(groupname => (
              <GroupLink key={groupname} groupname={groupname} />
            ))}
          </NameLine>
        </>
      )}
    </DirectoryCard>
  );
}

function Identity({ person }: Pick<DirectoryUser, 'person'>) {
  const { username, human_name } = person;
  const timezone = knownTimeZone(person.timezone);
  return (
    <div className={styles.identity}>
      <ColoredAvatar username={username} name={human_name} />
      <div className={styles.names}>
        <Text as="p" weight="bold">
          <DirectoryText value={human_name ?? username} />
        </Text>
        <Text as="p" variant="body-small" color="secondary">
          <DirectoryText value={username} />
        </Text>
        <PersonBadges person={person} />
      </div>
      {timezone && (
        <Text variant="body-small" color="secondary">
          <LocalTime timeZone={timezone} form="brief" />
        </Text>
      )}
    </div>
  );
}

const FIELDS = [
  'username',
  'human_name',
  'timezone',
  'is_private',
  'locked',
] as const;

interface DirectoryUser {
  person: Required<Pick<MaskedUser, (typeof FIELDS)[number]>>;
  groups: string[];
  groupCount: number;
}

function useDirectoryUser(username: string) {
  return useDirectoryQuery({
    key: ['entity user', username],
    load: async (client, signal): Promise<DirectoryUser> => {
      const path = { username };
      const [user, memberships] = await Promise.all([
        client.get('/users/{username}/', {
          params: { path, header: { 'X-Fields': FIELDS.join(',') } },
          signal,
        }),
        client.get('/users/{username}/memberships/', {
          params: {
            path,
            header: { 'X-Fields': 'groupname' },
            query: { page_size: MAX_NAMES },
          },
          signal,
        }),
      ]);
      return {
        // The mask selects exactly these fields.
        person: user.data.result as DirectoryUser['person'],
        groups: memberships.data.result.map(({ groupname }) => groupname!),
        groupCount: memberships.data.total_results,
      };
    },
  });
}
