import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Link, Text } from '@backstage/ui';
import { RiArrowDownSLine, RiArrowRightSLine } from '@remixicon/react';
import { useState } from 'react';
import { groupRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { GroupTree } from './GroupTree';
import styles from './GroupTree.module.css';
import type { NestedGroup } from './useNestedGroups';

/** Options of {@link GroupBranch}. */
export interface GroupBranchProps {
  group: NestedGroup;

  /** The groups above, the page's own first. */
  way: readonly string[];
}

/** A nested group; what is nested in it is asked when the reader opens it. */
export function GroupBranch({ group, way }: GroupBranchProps) {
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
            aria-label={t('group.nested.open', { group: groupname })}
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
          title={description ?? undefined}
          standalone
        >
          {groupname}
        </Link>
        <Text variant="body-small" color="secondary">
          {isCircle
            ? t('group.nested.circle')
            : t('group.nested.members', { count: member_count })}
        </Text>
      </div>
      {isOpen && <GroupTree way={[...way, groupname]} />}
    </li>
  );
}
