import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isTooShort } from '../page/TextSearch';
import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../page/useUrlQuery';

/** Number of groups on a page. */
export const PAGE_SIZE = 24;

const FIELDS = [
  'groupname',
  'description',
  'mailing_list',
  'url',
  'irc',
  'discussion_url',
  'member_count',
] as const;

/** A group in the list. */
export type ListedGroup = Required<Pick<MaskedGroup, (typeof FIELDS)[number]>>;

/** A page of the list. */
interface GroupsAnswer {
  groups: ListedGroup[];
  total: number;
}

const header = { 'X-Fields': FIELDS.join(',') };

/** Queries a page of all groups, or of those that match a text. */
export function useGroups({ text, page }: GroupsQuestion) {
  return useDirectoryQuery({
    key: ['groups', text, page],
    enabled: !isTooShort(text),
    keepPrevious: true,
    load: async (client, signal): Promise<GroupsAnswer> => {
      const query = { page_number: page, page_size: PAGE_SIZE };
      const { data } = text
        ? await client.get('/search/groups/', {
            params: { query: { ...query, q: text }, header },
            signal,
          })
        : await client.get('/groups/', { params: { query, header }, signal });
      return {
        // The mask selects exactly these fields, so that none is missing.
        groups: data.result as ListedGroup[],
        total: data.total_results,
      };
    },
  });
}

/** The query of the page, as in its URL. */
export interface GroupsQuestion {
  /** Searched text. */
  text: string;

  /** Counted from 1. */
  page: number;
}

/** Changes the query. */
export type AskGroups = Ask<GroupsQuestion>;

const format = {
  read: (params: URLSearchParams): GroupsQuestion => ({
    text: params.get('q') ?? '',
    page: readPage(params),
  }),
  write: ({ text, page }: GroupsQuestion) => ({
    q: text || undefined,
    page: writePage(page),
  }),
};

/** Returns the query in the URL and a function that changes it. */
export function useGroupsQuestion(): [GroupsQuestion, AskGroups] {
  return useQuestion<GroupsQuestion>(format);
}
