import { useDirectoryQuery } from '../api/useDirectoryQuery';

/** A sponsor as a card names them. */
export interface NamedSponsor {
  username: string;
  name: string;
}

/** What a card says about a group. */
export interface KnownGroup {
  memberCount: number;
  description: string | null;
  sponsors: NamedSponsor[];
}

/** Asks for what a card says about a group. */
export function useKnownGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['known group', groupname],
    load: async (client, signal): Promise<KnownGroup> => {
      const path = { groupname };
      const [group, sponsors] = await Promise.all([
        client.get('/groups/{groupname}/', {
          params: { path, header: { 'X-Fields': 'description,member_count' } },
          signal,
        }),
        client.get('/groups/{groupname}/sponsors/', {
          params: { path, header: { 'X-Fields': 'username,human_name' } },
          signal,
        }),
      ]);
      const { description = null, member_count = 0 } = group.data.result;
      return {
        memberCount: member_count,
        description,
        sponsors: sponsors.data.result.map(({ username, human_name }) => ({
          username: username!,
          name: human_name ?? username!,
        })),
      };
    },
  });
}
