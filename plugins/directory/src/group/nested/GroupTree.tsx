import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Link, Skeleton, Text } from '@backstage/ui';
import { RiArrowDownSLine, RiArrowRightSLine } from '@remixicon/react';
import { useState } from 'react';
import { DirectoryText, visibleText } from '../../components/DirectoryText';
import { ErrorState } from '../../page/states';
import { groupRouteRef } from '../../routes';
import { counted, directoryTranslationRef } from '../../translation';
import styles from './GroupTree.module.css';
import { type NestedGroup, useNestedGroups } from './useNestedGroups';

/**
 * The groups nested in the last one of a way, each with those nested in it.
 * The way is how the reader came here: groups can be nested in a circle.
 */
export function GroupTree({ way }: { way: readonly string[] }) {
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

interface GroupBranchProps {
  group: NestedGroup;

  /** The groups above, the page's own first. */
  way: readonly string[];
}

/** A nested group; what is nested in it is asked when the reader opens it. */
function GroupBranch({ group, way }: GroupBranchProps) {
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
