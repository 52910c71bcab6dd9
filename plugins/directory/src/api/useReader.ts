import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDirectoryQuery } from './useDirectoryQuery';

/**
 * Asks for the reader's own user name in the directory: `null` when the
 * directory does not know the reader.
 */
export function useReaderQuery(): UseQueryResult<string | null> {
  return useDirectoryQuery({
    key: ['me'],
    load: async (client, signal) => {
      try {
        return (await client.get('/me/', { signal })).data.result.username;
      } catch (error) {
        if (isDirectoryResponseError(error) && error.status === 403) {
          return null; // decisions: a portal user that is not mapped
        }
        throw error;
      }
    },
  });
}

/**
 * The reader's own user name in the directory: `undefined` while it is asked
 * for, `null` when the directory does not know the reader.
 */
export function useReader(): string | null | undefined {
  return useReaderQuery().data;
}
