import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { PersonLink } from '../components/EntryLink';
import { groupRouteRef } from '../routes';
import { directoryTranslationRef, formatCount } from '../translation';
import {
  DirectoryCard,
  MAX_NAMES,
  NameLine,
  useDirectoryName,
} from './DirectoryCard';

/**
 * Card with the description, size and sponsors of a catalog group in the
 * directory.
 */
export function GroupCard() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const groupname = useDirectoryName();
  const href = useRouteRef(groupRouteRef);

  return (
    <DirectoryCard
      title={t('entity.title')}
      unknown={t('entity.group.unknown', { name: groupname })}
      query={useDirectoryGroup(groupname)}
      href={href?.({ groupname }) ?? ''}
      linkText={t('entity.open')}
    >
      {({ description, memberCount, sponsors }) => (
        <>
          {description && (
            <Text as="p">
              <DirectoryText value={description} />
            </Text>
          )}
          <Text as="p" weight="bold">
            {t('entity.group.members', formatCount(memberCount))}
          </Text>
          <NameLine
            title={t('entity.group.sponsors')}
            total={sponsors.length}
            shown={MAX_NAMES}
            none={t('entity.group.noSponsors')}
          >
            {sponsors.slice(0, MAX_NAMES).map(({ username, name }) => (
              <PersonLink key={username} username={username}>
                <DirectoryText value={name} />
              </PersonLink>
            ))}
          </NameLine>
        </>
      )}
    </DirectoryCard>
  );
}

function useDirectoryGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['entity group', groupname],
    load: async (client, signal) => {
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
      const { description, member_count = 0 } = group.data.result;
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
