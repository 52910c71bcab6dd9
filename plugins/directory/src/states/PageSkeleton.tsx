import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Container, Flex, Skeleton } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';

/** Holds the place of a page whose code is still under way. */
export function PageSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Container>
      <Flex
        direction="column"
        gap="4"
        pt="4"
        role="status"
        aria-label={t('states.loading')}
      >
        <Skeleton height={40} width="100%" />
        <Skeleton height={240} width="100%" />
      </Flex>
    </Container>
  );
}
