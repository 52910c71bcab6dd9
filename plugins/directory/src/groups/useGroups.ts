import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';
import { readPage, type SetQuery, useUrlQuery } from '../page/useUrlQuery';

/** Fields of each group. */
const GROUP_FIELDS = [
  'groupname',
  'description',
  'mailing_list',
  'url',
  'irc',
  'discussion_url',
  'member_count',
] as const;

/** A group in the list, and on its page. */
export type ListedGroup = Required<
  Pick<MaskedGroup, (typeof GROUP_FIELDS)[number]>
>;

interface GroupsResult {
  groups: ListedGroup[];
  total: number;
}

/** Header of the requests: selects the fields of a {@link ListedGroup}. */
export const groupHeader = { 'X-Fields': GROUP_FIELDS.join(',') };

/** Queries a page of all groups, or of those that match a text. */
export function useGroups({ q, page }: GroupsQuery) {
  return useDirectoryQuery({
    key: ['groups', q, page],
    keepPrevious: true,
    load: async (client, signal): Promise<GroupsResult> => {
      const query = { page_number: page, page_size: PAGE_SIZE };
      const { data } = q
        ? await client.get('/search/groups/', {
            params: { query: { ...query, q }, header: groupHeader },
            signal,
          })
        : await client.get('/groups/', {
            params: { query, header: groupHeader },
            signal,
          });
      return {
        // The mask selects exactly these fields, so that none is missing.
        groups: data.result as ListedGroup[],
        total: data.total_results,
      };
    },
  });
}

/** The query of the page: its URL parameters. */
export interface GroupsQuery {
  q: string;

  /** Counted from 1. */
  page: number;
}

export type SetGroupsQuery = SetQuery<GroupsQuery>;

function readQuery(params: URLSearchParams): GroupsQuery {
  return { q: params.get('q') ?? '', page: readPage(params) };
}

/** Returns the query in the URL and a function that changes it. */
export function useGroupsQuery(): [GroupsQuery, SetGroupsQuery] {
  return useUrlQuery(readQuery);
}
