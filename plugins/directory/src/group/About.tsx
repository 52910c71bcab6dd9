import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Card, Text } from '@backstage/ui';
import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { RiGroupLine } from '@remixicon/react';
import { type ReactNode, useId } from 'react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { LinkList } from '../components/LinkList';
import { GroupLinkIcon, groupLinks } from '../groups/groupLinks';
import { counted, directoryTranslationRef } from '../translation';
import styles from './About.module.css';

/** Description, size and links of a group. */
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

/** A section of the group page with a heading. */
export function Section(props: {
  title: string;

  /** Explanation below the title. */
  note?: ReactNode;

  /** Buttons at the right of the title. */
  actions?: ReactNode;

  children: ReactNode;
}) {
  const { title, note, actions, children } = props;
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <div className={styles.header}>
        <div className={styles.title}>
          <Text as="h2" id={heading} variant="title-x-small" weight="bold">
            {title}
          </Text>
          {note && (
            <Text as="p" variant="body-medium" color="secondary">
              {note}
            </Text>
          )}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

const FIELDS = [
  'groupname',
  'description',
  'mailing_list',
  'url',
  'irc',
  'discussion_url',
  'member_count',
] as const;

/** A group with its number of members. */
export type GroupDetails = Required<Pick<MaskedGroup, (typeof FIELDS)[number]>>;

const header = { 'X-Fields': FIELDS.join(',') };

/** Queries a group. */
export function useGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['group', groupname],
    load: async (client, signal) => {
      const { data } = await client.get('/groups/{groupname}/', {
        params: { path: { groupname }, header },
        signal,
      });
      // The mask selects exactly these fields, so that none is missing.
      return data.result as GroupDetails;
    },
  });
}
