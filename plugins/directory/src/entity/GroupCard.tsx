import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { useEntity } from '@backstage/plugin-catalog-react';
import { Link, Text } from '@backstage/ui';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { groupRouteRef, personRouteRef } from '../routes';
import { counted, directoryTranslationRef } from '../translation';
import { directoryNameOf, readCatalogNames } from './catalogNames';
import { DirectoryCard } from './DirectoryCard';
import styles from './DirectoryCard.module.css';

/** Number of sponsors on a card. */
const NAMED_SPONSORS = 5;

/** Description, size and sponsors of a catalog group in the directory. */
export function GroupCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { entity } = useEntity();
  const names = readCatalogNames(useApi(configApiRef));
  const groupname = directoryNameOf(entity, names) ?? entity.metadata.name;
  const href = useRouteRef(groupRouteRef);
  const query = useKnownGroup(groupname);

  return (
    <DirectoryCard
      title={t('entity.group.title')}
      unknown={t('entity.group.unknown', { name: groupname })}
      query={query}
      footer={
        <Link href={href?.({ groupname }) ?? ''} standalone>
          {t('entity.group.open')}
        </Link>
      }
    >
      {({ description, memberCount, sponsors }) => (
        <>
          {description && (
            <Text as="p">
              <DirectoryText value={description} />
            </Text>
          )}
          <Text as="p" weight="bold">
            {t('entity.group.members', counted(memberCount))}
          </Text>
          <SponsorNames sponsors={sponsors} />
        </>
      )}
    </DirectoryCard>
  );
}

function SponsorNames({ sponsors }: Pick<KnownGroup, 'sponsors'>) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  if (sponsors.length === 0) {
    return (
      <Text as="p" color="secondary">
        {t('entity.group.noSponsors')}
      </Text>
    );
  }
  return (
    <div className={styles.line}>
      <Text weight="bold">{t('entity.group.sponsors')}</Text>
      {sponsors.slice(0, NAMED_SPONSORS).map(({ username, name }) => (
        <Link key={username} href={href?.({ username }) ?? ''} standalone>
          <DirectoryText value={name} />
        </Link>
      ))}
      {sponsors.length > NAMED_SPONSORS && (
        <Text color="secondary">
          {t('entity.group.more', { count: sponsors.length - NAMED_SPONSORS })}
        </Text>
      )}
    </div>
  );
}

/** A sponsor on the card. */
interface NamedSponsor {
  username: string;
  name: string;
}

/** Content of the card. */
interface KnownGroup {
  memberCount: number;
  description: string | null;
  sponsors: NamedSponsor[];
}

function useKnownGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['known group', groupname],
    load: async (client, signal): Promise<KnownGroup> => {
      const path = { groupname };
      const [group, sponsors] = await Promise.all([
        client.get('/groups/{groupname}/', {
          params: { path, header: { 'X-Fields': 'description,member_count' } },
          signal,
        }),
        client.get('/groups/{groupname}/sponsors/', {
          params: { path, header: { 'X-Fields': 'username,human_name' } },
          signal,
        }),
      ]);
      const { description = null, member_count = 0 } = group.data.result;
      return {
        memberCount: member_count,
        description,
        sponsors: sponsors.data.result.map(({ username, human_name }) => ({
          username: username!,
          name: human_name ?? username!,
        })),
      };
    },
  });
}
