import type { components } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';

/** A change in a history. */
export type HistoryChange = components['schemas']['Change'];

/** A page of a history. */
export interface HistoryPage {
  changes: readonly HistoryChange[];
  total: number;
}

/**
 * Queries a page of the history of a user or a group. Requires the right to
 * read it.
 */
export function useHistory(options: {
  kind: 'user' | 'group';
  name: string;
  page: number;
  enabled: boolean;
}): UseQueryResult<HistoryPage> {
  const { kind, name, page, enabled } = options;
  return useDirectoryQuery({
    key: ['history', kind, name, page],
    enabled,
    keepPrevious: true,
    load: async (client, signal) => {
      const query = { page_number: page, page_size: PAGE_SIZE };
      const { data } =
        kind === 'user'
          ? await client.get('/users/{username}/history/', {
              params: { path: { username: name }, query },
              signal,
            })
          : await client.get('/groups/{groupname}/history/', {
              params: { path: { groupname: name }, query },
              signal,
            });
      return { changes: data.result, total: data.total_results };
    },
  });
}
