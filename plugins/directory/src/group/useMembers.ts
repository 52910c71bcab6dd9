import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isTooShort } from '../page/TextSearch';
import type { MatchedPerson } from '../people/searchPeople';
import type { MembersQuestion } from './members/useMembersQuestion';
import { MEMBER_MASK, toMatchedPerson } from './toMatchedPerson';

/** Members on a page: it divides by two, three, four and six columns. */
export const PAGE_SIZE = 24;

/** A page of a group's members. */
export interface MembersAnswer {
  people: MatchedPerson[];
  total: number;
}

/** Asks for a page of a group's members; text and filter are the server's work. */
export function useMembers(groupname: string, question: MembersQuestion) {
  const { text, membership, page } = question;
  return useDirectoryQuery({
    key: ['members', groupname, text, membership, page],
    enabled: !isTooShort(text),
    keepPrevious: true,
    load: async (client, signal): Promise<MembersAnswer> => {
      const { data } = await client.get('/groups/{groupname}/members/', {
        params: {
          path: { groupname },
          header: { 'X-Fields': MEMBER_MASK },
          query: {
            ...(text && { q: text }),
            ...(membership !== 'all' && { membership }),
            page_number: page,
            page_size: PAGE_SIZE,
          },
        },
        signal,
      });
      return {
        people: data.result.map(member => toMatchedPerson(member, text)),
        total: data.total_results,
      };
    },
  });
}
