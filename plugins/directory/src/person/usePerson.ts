import { useDirectoryQuery } from '../api/useDirectoryQuery';

/** Asks for everything about a person. */
export function usePerson(username: string) {
  return useDirectoryQuery({
    key: ['person', username],
    load: async (client, signal) => {
      const { data } = await client.get('/users/{username}/', {
        params: { path: { username } },
        signal,
      });
      return data.result;
    },
  });
}
