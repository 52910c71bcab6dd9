import { useDirectoryQuery } from '../../api/useDirectoryQuery';
import type { MatchedPerson } from '../../people/searchPeople';
import { MEMBER_MASK, toMatchedPerson } from '../toMatchedPerson';

/** Asks for everybody who lets people into a group. */
export function useSponsors(groupname: string) {
  return useDirectoryQuery({
    key: ['sponsors', groupname],
    load: async (client, signal): Promise<MatchedPerson[]> => {
      const { data } = await client.get('/groups/{groupname}/sponsors/', {
        params: {
          path: { groupname },
          header: { 'X-Fields': MEMBER_MASK },
        },
        signal,
      });
      return data.result.map(sponsor => toMatchedPerson(sponsor));
    },
  });
}
