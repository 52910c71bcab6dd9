import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Flex, Skeleton } from '@backstage/ui';
import { directoryTranslationRef } from '../../translation';

/** The shape of the timeline and the table, before there are any. */
export function CertificatesSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Flex
      direction="column"
      gap="3"
      role="status"
      aria-label={t('states.loading')}
    >
      <Skeleton width="100%" height={140} />
      <Skeleton width="100%" height={36} />
      <Skeleton width="100%" height={56} />
      <Skeleton width="100%" height={56} />
    </Flex>
  );
}
