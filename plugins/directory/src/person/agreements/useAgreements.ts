import {
  collect,
  LARGEST_PAGE,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';

/** Asks for the names of the agreements that somebody has signed. */
export function useAgreements(username: string) {
  return useDirectoryQuery({
    key: ['agreements', username],
    load: async (client, signal) => {
      const agreements = await collect(
        ({ page_number }) =>
          client.get('/users/{username}/agreements/', {
            params: {
              path: { username },
              query: { page_number, page_size: LARGEST_PAGE },
            },
            signal,
          }),
        signal,
      );
      return agreements.map(({ name }) => name);
    },
  });
}
