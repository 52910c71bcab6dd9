import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton } from '@backstage/ui';
import { ErrorState } from '../../states';
import { directoryTranslationRef } from '../../translation';
import { GroupBranch } from './GroupBranch';
import styles from './GroupTree.module.css';
import { useNestedGroups } from './useNestedGroups';

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
      aria-label={t('group.nested.listOf', { group })}
    >
      {data.map(nested => (
        <GroupBranch key={nested.groupname} group={nested} way={way} />
      ))}
    </ul>
  );
}
