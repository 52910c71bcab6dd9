import { useDirectoryQuery } from '../../api/useDirectoryQuery';

/** Asks whether somebody is a member; nothing without a name. */
export function useIsMember(groupname: string, username: string | undefined) {
  return useDirectoryQuery({
    key: ['is member', groupname, username],
    enabled: Boolean(username),
    load: async (client, signal) => {
      const { data } = await client.get(
        '/groups/{groupname}/is-member/{username}',
        { params: { path: { groupname, username: username! } }, signal },
      );
      return data.result;
    },
  });
}
