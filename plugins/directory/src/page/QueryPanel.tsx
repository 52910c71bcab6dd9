import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Box, Flex, Skeleton } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { directoryTranslationRef } from '../translation';
import styles from './QueryPanel.module.css';
import { ErrorState, StaleNotice } from './states';

/** A tab that is loading, loaded, failed, or loaded with a failed refresh. */
export function QueryPanel<Data>(props: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}) {
  const { query, children } = props;
  const { data, error, dataUpdatedAt, refetch } = query;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (data === undefined) {
    return error ? (
      <ErrorState error={error} onRetry={refetch} />
    ) : (
      <Flex
        direction="column"
        gap="3"
        role="status"
        aria-label={t('states.loading')}
      >
        <Skeleton width="100%" height={40} />
        <Skeleton width="100%" height={64} />
        <Skeleton width="100%" height={64} />
        <Skeleton width="100%" height={64} />
      </Flex>
    );
  }
  return (
    <>
      {error && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {children(data)}
    </>
  );
}

/** A list with a background; its items have the class `row` of this CSS module. */
export function Rows({ children }: { children: ReactNode }) {
  return (
    <Box as="ul" bg="neutral" className={styles.rows}>
      {children}
    </Box>
  );
}
