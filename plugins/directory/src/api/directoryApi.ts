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

/**
 * Directory client shared by all pages.
 *
 * @public
 */
export interface DirectoryApi {
  /** Calls `/v1/` with the user's credentials. */
  readonly client: DirectoryClient;
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
      factory: ({ fetchApi }) => ({
        client: createDirectoryClient({
          baseUrl: 'plugin://directory/v1',
          fetch: fetchApi.fetch,
        }),
      }),
    }),
});
