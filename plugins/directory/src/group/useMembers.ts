import type { MaskedMember } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';
import type { View } from '../page/SearchList';
import { readPage, type SetQuery, useUrlQuery } from '../page/useUrlQuery';
import { type FoundPerson, PERSON_FIELDS } from '../people/peopleQuery';
import type { PeoplePageData } from '../people/searchPeople';

/** Members and sponsors are never locked. */
const memberHeader = {
  'X-Fields': PERSON_FIELDS.filter(field => field !== 'locked').join(','),
};

/** Queries a page of a group's members; the server searches and filters. */
export function useMembers(groupname: string, query: MembersQuery) {
  const { q, membership, page } = query;
  return useDirectoryQuery({
    key: ['members', groupname, q, membership, page],
    keepPrevious: true,
    load: async (client, signal): Promise<PeoplePageData> => {
      const { data } = await client.get('/groups/{groupname}/members/', {
        params: {
          path: { groupname },
          header: memberHeader,
          query: {
            ...(q && { q }),
            ...(membership !== 'all' && { membership }),
            page_number: page,
            page_size: PAGE_SIZE,
          },
        },
        signal,
      });
      return {
        people: data.result.map(toPerson),
        total: data.total_results,
      };
    },
  });
}

/** Queries the sponsors of a group. */
export function useSponsors(groupname: string) {
  return useDirectoryQuery({
    key: ['sponsors', groupname],
    load: async (client, signal): Promise<FoundPerson[]> => {
      const { data } = await client.get('/groups/{groupname}/sponsors/', {
        params: { path: { groupname }, header: memberHeader },
        signal,
      });
      return data.result.map(toPerson);
    },
  });
}

/** The mask selects exactly these fields, so that none is missing. */
function toPerson(member: MaskedMember): FoundPerson {
  return { ...member, locked: false } as FoundPerson;
}

/** Kinds of membership. */
export const MEMBERSHIPS = ['all', 'direct', 'indirect'] as const;

/** The query of the members: the URL parameters. */
export interface MembersQuery {
  q: string;

  membership: (typeof MEMBERSHIPS)[number];

  /** Counted from 1. */
  page: number;

  view: View;
}

export type SetMembersQuery = SetQuery<MembersQuery>;

function readQuery(params: URLSearchParams): MembersQuery {
  const membership = params.get('membership');
  return {
    q: params.get('q') ?? '',
    membership: MEMBERSHIPS.find(one => one === membership) ?? 'all',
    page: readPage(params),
    view: params.get('view') === 'table' ? 'table' : 'cards',
  };
}

/** Returns the query in the URL and a function that changes it. */
export function useMembersQuery(): [MembersQuery, SetMembersQuery] {
  return useUrlQuery(readQuery);
}
