import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Card, Text } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { LinkList } from '../components/LinkList';
import { GroupLinkIcon } from '../groups/GroupLinkIcon';
import { groupLinks } from '../groups/groupLinks';
import { counted, directoryTranslationRef } from '../translation';
import styles from './About.module.css';
import type { GroupDetails } from './useGroup';

/** What a group is for, how large it is, and where it is found. */
export function About({ group }: { group: GroupDetails }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { groupname, description, member_count } = group;
  return (
    <Card className={styles.card}>
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
        <Text>{t('group.about.members', counted(member_count))}</Text>
      </div>
      <Links group={group} />
    </Card>
  );
}

function Links({ group }: { group: GroupDetails }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const links = groupLinks(group);
  if (links.length === 0) {
    return (
      <Text as="p" variant="body-small" color="secondary">
        {t('group.about.noLinks')}
      </Text>
    );
  }
  return (
    <LinkList
      label={t('group.about.links')}
      links={links.map(({ kind, text, href }) => ({
        kind: t(`groups.link.${kind}`),
        icon: <GroupLinkIcon kind={kind} />,
        text,
        href,
        copyLabel: t('group.about.copy', { value: visibleText(text) }),
      }))}
    />
  );
}
