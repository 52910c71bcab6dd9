import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Text } from '@backstage/ui';
import type { MaskedMemberGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { RiArrowDownSLine, RiArrowRightSLine } from '@remixicon/react';
import { useState } from 'react';
import { fetchAllPages, useDirectoryQuery } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { GroupLink } from '../components/EntryLink';
import { Section } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import { LoadingBlocks } from '../page/loading';
import { directoryTranslationRef, formatCount } from '../translation';
import styles from './NestedGroups.module.css';

/** The groups nested in a group. Empty when there are none. */
export function NestedGroups({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error } = useNestedGroups(groupname);
  if (data?.length === 0 || (!data && !error)) {
    return null;
  }
  return (
    <Section title={t('group.nested.title')} note={t('group.nested.hint')}>
      <GroupTree path={[groupname]} />
    </Section>
  );
}

/**
 * The groups nested in the last group of a path, each with its own nested
 * groups. The path detects circular memberships.
 */
function GroupTree({ path }: { path: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const group = path[path.length - 1];
  return (
    <QueryPanel
      query={useNestedGroups(group)}
      skeleton={<LoadingBlocks heights={[32]} />}
      hidesStaleNotice
    >
      {groups => (
        <ul
          className={path.length > 1 ? styles.branches : styles.tree}
          aria-label={t('group.nested.listOf', { group: visibleText(group) })}
        >
          {groups.map(nested => (
            <GroupBranch key={nested.groupname} group={nested} path={path} />
          ))}
        </ul>
      )}
    </QueryPanel>
  );
}

/** A nested group. Its own nested groups are loaded when it is opened. */
function GroupBranch(props: {
  group: NestedGroup;

  /** The parent groups, starting at the group of the page. */
  path: readonly string[];
}) {
  const { group, path } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [isOpen, setIsOpen] = useState(false);
  const { groupname, description, member_count, has_member_groups } = group;
  const isCircle = path.includes(groupname);

  return (
    <li>
      <div className={styles.branch}>
        {has_member_groups && !isCircle ? (
          <ButtonIcon
            aria-label={t('group.nested.open', {
              group: visibleText(groupname),
            })}
            aria-expanded={isOpen}
            icon={isOpen ? <RiArrowDownSLine /> : <RiArrowRightSLine />}
            size="small"
            variant="tertiary"
            onPress={() => setIsOpen(!isOpen)}
          />
        ) : (
          <span className={styles.leaf} />
        )}
        <GroupLink
          groupname={groupname}
          weight="bold"
          title={visibleText(description ?? '') || undefined}
        />
        <Text variant="body-small" color="secondary">
          {isCircle
            ? t('group.nested.circle')
            : t('group.nested.members', formatCount(member_count))}
        </Text>
      </div>
      {isOpen && <GroupTree path={[...path, groupname]} />}
    </li>
  );
}

const FIELDS = [
  'groupname',
  'description',
  'member_count',
  'has_member_groups',
] as const;

type NestedGroup = Required<Pick<MaskedMemberGroup, (typeof FIELDS)[number]>>;

const header = { 'X-Fields': FIELDS.join(',') };

/** Queries the groups that are direct members of a group. */
export function useNestedGroups(groupname: string) {
  return useDirectoryQuery({
    key: ['member groups', groupname],
    load: async (client, signal) => {
      const groups = await fetchAllPages(
        query =>
          client.get('/groups/{groupname}/member-groups/', {
            params: { path: { groupname }, header, query },
            signal,
          }),
        signal,
      );
      // The mask selects exactly these fields.
      return groups as NestedGroup[];
    },
  });
}
