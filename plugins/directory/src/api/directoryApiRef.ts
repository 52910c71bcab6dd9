import { createApiRef } from '@backstage/frontend-plugin-api';
import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import type { QueryClient } from '@tanstack/react-query';

/**
 * The directory, as the pages ask it.
 *
 * @public
 */
export interface DirectoryApi {
  /** Asks `/v1/` in the reader's name. */
  readonly client: DirectoryClient;

  /** What was answered so far: shared by all pages, gone with the tab. */
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
