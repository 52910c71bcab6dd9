import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Container, Flex, Skeleton } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';

/** Placeholders for blocks that are loading. */
export function LoadingBlocks(props: {
  /** Heights of the blocks, in pixels. */
  heights: readonly number[];

  /** Accessible text. Defaults to "Loading". */
  label?: string;
}) {
  const { heights, label } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Flex
      direction="column"
      gap="3"
      role="status"
      aria-label={label ?? t('states.loading')}
    >
      {heights.map((height, index) => (
        // eslint-disable-next-line react/no-array-index-key -- blocks are identical
        <Skeleton key={index} width="100%" height={height} />
      ))}
    </Flex>
  );
}

/** Shown while the code of a page loads. */
export function PageSkeleton() {
  return (
    <Container>
      <LoadingBlocks heights={[40, 240]} />
    </Container>
  );
}
