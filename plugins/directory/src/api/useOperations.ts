import type { operations } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDirectoryQuery } from './useDirectoryQuery';

type OperationsResult =
  operations['get_operations']['responses'][200]['content']['application/json']['result'];

/** The name of a permission of the directory. */
export type OperationName = OperationsResult['operations'][number];

/**
 * Queries the operations that the gateway allows the user: one query for all
 * pages, whose result they share.
 */
export function useOperations(): UseQueryResult<ReadonlySet<OperationName>> {
  return useDirectoryQuery({
    key: ['operations'],
    load: async (client, signal) => {
      const { data } = await client.get('/me/operations/', { signal });
      return new Set(data.result.operations);
    },
  });
}

/**
 * Whether the gateway allows the user an operation: false while that is
 * loading, and when it could not be loaded.
 */
export function useMay(operation: OperationName): boolean {
  const { data, error } = useOperations();
  return !error && data?.has(operation) === true;
}
