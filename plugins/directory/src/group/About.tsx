import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { DirectoryText } from '../components/DirectoryText';
import { LinkList, useChatServers } from '../components/LinkList';
import { groupLinks } from '../groups/groupLinks';
import type { ListedGroup } from '../groups/useGroups';
import { SubjectCard } from '../page/DirectoryPage';
import { directoryTranslationRef, formatCount } from '../translation';
import styles from './About.module.css';

/** The description, size and links of a group. */
export function About({ group }: { group: ListedGroup }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const servers = useChatServers();
  const { groupname, description, member_count } = group;
  return (
    <SubjectCard>
      <Text as="h2" variant="title-small" weight="bold">
        <DirectoryText value={groupname} />
      </Text>
      <Text as="p" color={description ? 'primary' : 'secondary'}>
        {description ? (
          <DirectoryText value={description} />
        ) : (
          t('group.about.noDescription')
        )}
      </Text>
      <div className={styles.count}>
        <RiGroupLine aria-hidden="true" />
        <Text>{t('group.about.members', formatCount(member_count))}</Text>
      </div>
      <LinkList
        label={t('group.about.links')}
        links={groupLinks(group, servers)}
        empty={t('group.about.noLinks')}
      />
    </SubjectCard>
  );
}
