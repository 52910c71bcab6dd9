import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Link, Text } from '@backstage/ui';
import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { ColoredAvatar } from '../components/Avatar';
import { LocalTime } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { PersonBadges } from '../people/PeopleCards';
import { groupRouteRef, personRouteRef } from '../routes';
import { counted, directoryTranslationRef } from '../translation';
import { directoryNameOf, readCatalogNames } from './catalogNames';
import { DirectoryCard } from './DirectoryCard';
import styles from './DirectoryCard.module.css';

/** Identity and groups of a catalog user in the directory. */
export function UserCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { entity } = useEntity();
  const names = readCatalogNames(useApi(configApiRef));
  const username = directoryNameOf(entity, names) ?? entity.metadata.name;
  const href = useRouteRef(personRouteRef);
  const query = useKnownUser(username);

  return (
    <DirectoryCard
      title={t('entity.user.title')}
      unknown={t('entity.user.unknown', { name: username })}
      query={query}
      footer={
        <Link href={href?.({ username }) ?? ''} standalone>
          {t('entity.user.open')}
        </Link>
      }
    >
      {user => (
        <>
          <Identity user={user} />
          <Groups user={user} />
        </>
      )}
    </DirectoryCard>
  );
}

function Identity({ user: { person } }: { user: KnownUser }) {
  const { username, human_name, timezone } = person;
  return (
    <div className={styles.who}>
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

function Groups({ user: { groups, groupCount } }: { user: KnownUser }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  if (groupCount === 0) {
    return (
      <Text as="p" color="secondary">
        {t('entity.user.noGroups')}
      </Text>
    );
  }
  return (
    <div className={styles.line}>
      <Text weight="bold">{t('entity.user.groups', counted(groupCount))}</Text>
      {groups.map(groupname => (
        <Link key={groupname} href={href?.({ groupname }) ?? ''} standalone>
          <DirectoryText value={groupname} />
        </Link>
      ))}
      {groupCount > groups.length && (
        <Text color="secondary">
          {t('entity.user.more', { count: groupCount - groups.length })}
        </Text>
      )}
    </div>
  );
}

/** Number of groups on a card. */
const NAMED_GROUPS = 5;

const FIELDS = [
  'username',
  'human_name',
  'timezone',
  'is_private',
  'locked',
] as const;

/** Content of the card. */
interface KnownUser {
  person: Required<Pick<MaskedUser, (typeof FIELDS)[number]>>;

  /** First groups of the user. */
  groups: string[];
  groupCount: number;
}

function useKnownUser(username: string) {
  return useDirectoryQuery({
    key: ['known user', username],
    load: async (client, signal): Promise<KnownUser> => {
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
            query: { page_size: NAMED_GROUPS },
          },
          signal,
        }),
      ]);
      return {
        // The mask selects exactly these fields, so that none is missing.
        person: user.data.result as KnownUser['person'],
        groups: memberships.data.result.map(({ groupname }) => groupname!),
        groupCount: memberships.data.total_results,
      };
    },
  });
}
