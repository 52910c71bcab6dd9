import { useApi } from '@backstage/frontend-plugin-api';
import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import {
  keepPreviousData,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { directoryApiRef } from './directoryApiRef';
import { retryDelay } from './retryDelay';

/** How long an answer counts as fresh, in milliseconds. */
const STALE_AFTER = 30_000;

/** Options of {@link useDirectoryQuery}. */
export interface DirectoryQueryOptions<Data> {
  /** What is asked: every value that the answer depends on. */
  key: readonly unknown[];

  /** Asks; must pass `signal` on, so that a question nobody waits for ends. */
  load: (client: DirectoryClient, signal: AbortSignal) => Promise<Data>;

  /** Whether to ask at all. Defaults to true. */
  enabled?: boolean;

  /** Whether to go on showing the answer to the previous key meanwhile. */
  keepPrevious?: boolean;
}

/**
 * Asks the directory and remembers the answer. After a failure it keeps the
 * last answer as `data`, has the failure as `error`, and asks again when the
 * server said, while somebody looks at the page.
 */
export function useDirectoryQuery<Data>(
  options: DirectoryQueryOptions<Data>,
): UseQueryResult<Data> {
  const { key, load, enabled, keepPrevious } = options;
  const { client, queries } = useApi(directoryApiRef);

  return useQuery(
    {
      queryKey: ['directory', ...key],
      queryFn: ({ signal }) => load(client, signal),
      enabled,
      staleTime: STALE_AFTER,
      retry: false,
      // Offline, a question fails and says so instead of waiting in silence.
      networkMode: 'always',
      refetchInterval: ({ state }) => retryDelay(state.error) ?? false,
      placeholderData: keepPrevious ? keepPreviousData : undefined,
    },
    queries,
  );
}
