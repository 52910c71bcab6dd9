import { ApiBlueprint, fetchApiRef } from '@backstage/frontend-plugin-api';
import { createDirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { QueryClient } from '@tanstack/react-query';
import { directoryApiRef } from './directoryApiRef';

/** Provides the {@link DirectoryApi} over the portal's fetch API. */
export const directoryApi = ApiBlueprint.make({
  params: defineParams =>
    defineParams({
      api: directoryApiRef,
      deps: { fetchApi: fetchApiRef },
      factory: ({ fetchApi }) => {
        const queries = new QueryClient();
        queries.mount(); // hears of focus as long as the portal is open
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
