import {
  ApiBlueprint,
  createApiRef,
  fetchApiRef,
} from '@backstage/frontend-plugin-api';
import {
  createDirectoryClient,
  type DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import { QueryClient } from '@tanstack/react-query';

/**
 * The client of the directory that the pages share.
 *
 * @public
 */
export interface DirectoryApi {
  /** Calls `/v1/` with the user's credentials. */
  readonly client: DirectoryClient;

  /** Query results so far: shared by all pages, kept until the tab is closed. */
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

/** Provides the {@link DirectoryApi} over the portal's fetch API. */
export const directoryApi = ApiBlueprint.make({
  params: defineParams =>
    defineParams({
      api: directoryApiRef,
      deps: { fetchApi: fetchApiRef },
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
