import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Link, Skeleton, Text } from '@backstage/ui';
import type { MaskedMemberGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { RiArrowDownSLine, RiArrowRightSLine } from '@remixicon/react';
import { useState } from 'react';
import { collect, useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { ErrorState } from '../page/states';
import { groupRouteRef } from '../routes';
import { counted, directoryTranslationRef } from '../translation';
import { Section } from './About';
import styles from './NestedGroups.module.css';

/** The groups nested in a group; nothing when there are none. */
export function NestedGroups({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error } = useNestedGroups(groupname);
  if (data?.length === 0 || (!data && !error)) {
    return null;
  }
  return (
    <Section title={t('group.nested.title')} note={t('group.nested.hint')}>
      <GroupTree way={[groupname]} />
    </Section>
  );
}

/**
 * The groups nested in the last group of a path, each with those nested in it.
 * The path is kept because groups can be nested in a circle.
 */
function GroupTree({ way }: { way: readonly string[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const group = way[way.length - 1];
  const { data, error, refetch } = useNestedGroups(group);
  if (!data) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <div role="status" aria-label={t('states.loading')}>
        <Skeleton width="60%" height={32} />
      </div>
    );
  }
  return (
    <ul
      className={way.length > 1 ? styles.branches : styles.tree}
      aria-label={t('group.nested.listOf', { group: visibleText(group) })}
    >
      {data.map(nested => (
        <GroupBranch key={nested.groupname} group={nested} way={way} />
      ))}
    </ul>
  );
}

/** A nested group; the groups nested in it are loaded when it is opened. */
function GroupBranch(props: {
  group: NestedGroup;

  /** The groups above, from the group of the page. */
  way: readonly string[];
}) {
  const { group, way } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(groupRouteRef);
  const [isOpen, setIsOpen] = useState(false);
  const { groupname, description, member_count, has_member_groups } = group;
  const isCircle = way.includes(groupname);

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
        <Link
          href={href?.({ groupname }) ?? ''}
          weight="bold"
          title={visibleText(description ?? '') || undefined}
          standalone
        >
          <DirectoryText value={groupname} />
        </Link>
        <Text variant="body-small" color="secondary">
          {isCircle
            ? t('group.nested.circle')
            : t('group.nested.members', counted(member_count))}
        </Text>
      </div>
      {isOpen && <GroupTree way={[...way, groupname]} />}
    </li>
  );
}

const FIELDS = [
  'groupname',
  'description',
  'member_count',
  'has_member_groups',
] as const;

/** A group that is nested in another group. */
type NestedGroup = Required<Pick<MaskedMemberGroup, (typeof FIELDS)[number]>>;

const header = { 'X-Fields': FIELDS.join(',') };

/** Queries the groups that are direct members of a group. */
function useNestedGroups(groupname: string) {
  return useDirectoryQuery({
    key: ['member groups', groupname],
    load: async (client, signal) => {
      const groups = await collect(
        query =>
          client.get('/groups/{groupname}/member-groups/', {
            params: {
              path: { groupname },
              header,
              query,
            },
            signal,
          }),
        signal,
      );
      // The mask selects exactly these fields, so that none is missing.
      return groups as NestedGroup[];
    },
  });
}
