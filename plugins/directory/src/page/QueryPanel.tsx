import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Flex, Skeleton } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState } from '../states/ErrorState';
import { StaleNotice } from '../states/StaleNotice';
import { directoryTranslationRef } from '../translation';

/** Options of {@link QueryPanel}. */
export interface QueryPanelProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** A tab whose content is under way, there, failed, or there and failed since. */
export function QueryPanel<Data>(props: QueryPanelProps<Data>) {
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
