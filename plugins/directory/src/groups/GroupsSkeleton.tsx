import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Flex, Skeleton } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';

const ROWS = Array.from({ length: 12 }, (_, index) => index);

/** The shape of the list, before there is one. */
export function GroupsSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Flex
      direction="column"
      gap="2"
      role="status"
      aria-label={t('states.loading')}
    >
      <Skeleton width="100%" height={36} />
      {ROWS.map(row => (
        <Skeleton key={row} width="100%" height={40} />
      ))}
    </Flex>
  );
}
