import { useApi } from '@backstage/frontend-plugin-api';
import {
  type DirectoryClient,
  type FetchPage,
  isDirectoryResponseError,
  type operations,
  paginate,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  keepPreviousData,
  QueryClient,
  useMutation,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import {
  type DirectoryApi,
  directoryApiRef,
  isSessionEnded,
} from './directoryApi';

/** Time for which a result is fresh, in milliseconds. */
const STALE_AFTER = 30_000;

/**
 * Caches of query results, kept until the tab is closed. Not created by the
 * API, because the portal loads the code of the API before any page.
 */
const caches = new WeakMap<DirectoryApi, QueryClient>();

/** Returns the directory client and the cache of its results. */
function useDirectory() {
  const api = useApi(directoryApiRef);
  let queries = caches.get(api);
  if (!queries) {
    queries = new QueryClient();
    queries.mount(); // subscribes to focus events while the portal is open
    caches.set(api, queries);
  }
  return { client: api.client, queries };
}

/** Options of {@link useDirectoryQuery}. */
interface DirectoryQueryOptions<Data> {
  /** Key of the query: every value that the result depends on. */
  key: readonly unknown[];

  /**
   * Sends the query. Must pass on `signal`, so that unused queries are aborted.
   */
  load: (client: DirectoryClient, signal: AbortSignal) => Promise<Data>;

  /** Whether to send the query. Defaults to true. */
  enabled?: boolean;

  /** Whether to show the result of the previous key while loading. Defaults to false. */
  keepPrevious?: boolean;
}

/**
 * Queries the directory and caches the result. After a failure, `data` keeps
 * the last result and `error` is set; while the page is visible, the query is
 * retried after the delay that the server requested.
 */
export function useDirectoryQuery<Data>(
  options: DirectoryQueryOptions<Data>,
): UseQueryResult<Data> {
  const { key, load, enabled, keepPrevious } = options;
  const { client, queries } = useDirectory();

  return useQuery(
    {
      queryKey: ['directory', ...key],
      queryFn: ({ signal }) => load(client, signal),
      enabled,
      staleTime: STALE_AFTER,
      retry: false,
      // When offline, a query fails at once instead of waiting for the network.
      networkMode: 'always',
      refetchInterval: ({ state }) => retryDelay(state.error) ?? false,
      placeholderData: keepPrevious ? keepPreviousData : undefined,
    },
    queries,
  );
}

/** Retry delay when the server sends no `Retry-After`, in seconds. */
const DEFAULT_DELAY = 15;

/**
 * Returns the delay before a retry, in milliseconds; `undefined` without a
 * failure, and when a retry would not help (forbidden, not found, session
 * ended).
 */
export function retryDelay(error: unknown): number | undefined {
  if (!error || isSessionEnded(error)) {
    return undefined;
  }
  if (!isDirectoryResponseError(error)) {
    return DEFAULT_DELAY * 1000; // no response at all
  }
  const mayPass = error.status >= 500 || error.status === 429;
  return mayPass ? (error.retryAfter ?? DEFAULT_DELAY) * 1000 : undefined;
}

/** Whether a query failed because the entry does not exist (404). */
export function isNotFound(error: unknown): boolean {
  return isDirectoryResponseError(error) && error.status === 404;
}

/**
 * Returns a mutation of the directory. Failed mutations are not retried.
 *
 * @param invalidates - prefix of the keys of the queries to reload after a
 *   success. Defaults to none.
 */
export function useDirectoryMutation<Variables, Data>(
  send: (client: DirectoryClient, variables: Variables) => Promise<Data>,
  invalidates?: readonly string[],
) {
  const { client, queries } = useDirectory();
  return useMutation(
    {
      mutationFn: (variables: Variables) => send(client, variables),
      onSuccess: () =>
        invalidates &&
        queries.invalidateQueries({ queryKey: ['directory', ...invalidates] }),
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}

/** The operations of the user, and what the CA can do. */
export type OperationsResult =
  operations['get_operations']['responses'][200]['content']['application/json']['result'];

/** Name of a directory permission. */
export type OperationName = OperationsResult['operations'][number];

/**
 * Queries the operations that the gateway allows the user, and the fields that
 * private profiles hide. All pages share the result.
 */
export function useOperations(): UseQueryResult<OperationsResult> {
  return useDirectoryQuery({
    key: ['operations'],
    load: async (client, signal) => {
      const { data } = await client.get('/me/operations/', { signal });
      return data.result;
    },
  });
}

/**
 * Whether the gateway allows the user an operation: false while loading and
 * after a failure. After the session has ended, the last result applies: an open
 * dialog must not close.
 */
export function useMay(operation: OperationName): boolean {
  const { data, error } = useOperations();
  const isCurrent = !error || isSessionEnded(error);
  return isCurrent && data?.operations.includes(operation) === true;
}

/**
 * Returns what the CA that issues certificates can do later: `null` if no CA is
 * configured, `undefined` while loading and after a failure.
 */
export function useCertificateAuthority():
  OperationsResult['certificate_authority'] | undefined {
  return useOperations().data?.certificate_authority;
}

/**
 * Queries the name of the current user in the directory; `null` when the portal
 * user has no directory user.
 */
export function useCurrentUser(): UseQueryResult<string | null> {
  return useDirectoryQuery({ key: ['me'], load: loadCurrentUser });
}

/** Loads the name of the current user; see {@link useCurrentUser}. */
export async function loadCurrentUser(
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return (await client.get('/me/', { signal })).data.result.username;
  } catch (error) {
    if (isDirectoryResponseError(error) && error.status === 403) {
      return null; // a portal user without a directory account
    }
    throw error;
  }
}

/** Maximum page size of the API, so that most lists take one request. */
const MAX_PAGE_SIZE = 1000;

/**
 * Fetches all pages of a list. `fetchPage` receives the query parameters of
 * each page.
 */
export async function fetchAllPages<Item>(
  fetchPage: (query: {
    page_number: number;
    page_size: number;
  }) => ReturnType<FetchPage<Item>>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  const pages = paginate<Item>(
    ({ page_number }) => fetchPage({ page_number, page_size: MAX_PAGE_SIZE }),
    { signal },
  );
  for await (const item of pages) {
    items.push(item);
  }
  return items;
}
