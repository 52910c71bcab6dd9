import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isTooShort } from '../page/TextSearch';
import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../page/useUrlQuery';
import type { MatchedPerson } from '../people/searchPeople';
import { MEMBER_MASK, toMatchedPerson } from './PersonCards';

/** Members on a page: divisible by two, three, four and six columns. */
export const PAGE_SIZE = 24;

/** A page of a group's members. */
export interface MembersAnswer {
  people: MatchedPerson[];
  total: number;
}

/** Queries a page of a group's members; the server searches and filters. */
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

/** Kinds of membership. */
export const MEMBERSHIPS = ['all', 'direct', 'indirect'] as const;

/** The query of the members, as in the URL. */
export interface MembersQuestion {
  /** Searched text. */
  text: string;

  membership: (typeof MEMBERSHIPS)[number];

  /** Counted from 1. */
  page: number;

  view: 'cards' | 'table';
}

/** Changes the query. */
export type AskMembers = Ask<MembersQuestion>;

const format = {
  read(params: URLSearchParams): MembersQuestion {
    const membership = params.get('membership');
    return {
      text: params.get('q') ?? '',
      membership: MEMBERSHIPS.find(one => one === membership) ?? 'all',
      page: readPage(params),
      view: params.get('view') === 'table' ? 'table' : 'cards',
    };
  },
  write: ({ text, membership, page, view }: MembersQuestion) => ({
    q: text || undefined,
    membership: membership === 'all' ? undefined : membership,
    page: writePage(page),
    view: view === 'table' ? view : undefined,
  }),
};

/** Returns the query in the URL and a function that changes it. */
export function useMembersQuestion(): [MembersQuestion, AskMembers] {
  return useQuestion<MembersQuestion>(format);
}
