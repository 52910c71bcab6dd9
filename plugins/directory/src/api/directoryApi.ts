import {
  ApiBlueprint,
  coreApis,
  createApiRef,
} from '@backstage/frontend-plugin-api';
import {
  createDirectoryClient,
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { QueryClient } from '@tanstack/react-query';

/**
 * Directory client and query cache shared by all pages.
 *
 * @public
 */
export interface DirectoryApi {
  /** Calls `/v1/` with the user's credentials. */
  readonly client: DirectoryClient;

  /** Cache of query results, kept until the tab is closed. */
  readonly queries: QueryClient;
}

/**
 * Reference to the {@link DirectoryApi}.
 *
 * @public
 */
export const directoryApiRef = createApiRef<DirectoryApi>().with({
  id: 'plugin.directory.api',
  pluginId: 'directory',
});

/** Reasons of 401 responses that concern the account, not the session. */
export const ACCOUNT_REASONS = [
  'unknown_principal',
  'account_locked',
  'account_expired',
] as const;

/**
 * Whether a request was rejected, or not sent, because the user must sign in
 * again. A repeated request renews the session if possible.
 */
export function isSessionEnded(error: unknown): boolean {
  return isDirectoryResponseError(error)
    ? error.status === 401 &&
        !ACCOUNT_REASONS.some(reason => reason === error.body?.reason)
    : // Thrown by the identity API.
      error instanceof Error && error.name === 'AuthenticationError';
}

/** Provides the {@link DirectoryApi} using the portal's fetch API. */
export const directoryApi = ApiBlueprint.make({
  params: defineParams =>
    defineParams({
      api: directoryApiRef,
      deps: { fetchApi: coreApis.fetch },
      factory: ({ fetchApi }) => {
        const queries = new QueryClient();
        queries.mount(); // subscribes to focus events while the portal is open
        return {
          client: createDirectoryClient({
            baseUrl: 'plugin://directory/v1',
            fetch: fetchApi.fetch,
          }),
          queries,
        };
      },
    }),
});
