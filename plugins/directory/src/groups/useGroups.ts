import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';
import {
  readPage,
  readSort,
  type SetQuery,
  useUrlQuery,
} from '../page/useUrlQuery';

/** Queried fields of a group. */
const GROUP_FIELDS = [
  'groupname',
  'description',
  'mailing_list',
  'url',
  'irc',
  'discussion_url',
  'member_count',
] as const;

/** A group in the list and on its page. */
export type ListedGroup = Required<
  Pick<MaskedGroup, (typeof GROUP_FIELDS)[number]>
>;

interface GroupsResult {
  /** Query of this result: an earlier one while another one loads. */
  query: GroupsQuery;
  groups: ListedGroup[];
  total: number;
}

/** Request header that selects the fields of a {@link ListedGroup}. */
export const groupHeader = { 'X-Fields': GROUP_FIELDS.join(',') };

/**
 * Queries a page of all groups, or of the groups that match a text or have a
 * given member.
 */
export function useGroups(
  query: GroupsQuery,
  options: { member: string | undefined; enabled: boolean },
) {
  const { q, sort, page } = query;
  const { member, enabled } = options;
  return useDirectoryQuery({
    key: ['groups', q, member, sort, page],
    keepPrevious: true,
    enabled,
    load: async (client, signal): Promise<GroupsResult> => {
      const paging = { page_number: page, page_size: PAGE_SIZE };
      // A search requires a term: `*` matches any name.
      const anyGroup = q || member ? undefined : '*';
      const { data } =
        q || member || sort
          ? await client.get('/search/groups/', {
              params: {
                query: {
                  ...paging,
                  q: q || undefined,
                  member,
                  groupname: anyGroup,
                  sort,
                },
                header: groupHeader,
              },
              signal,
            })
          : await client.get('/groups/', {
              params: { query: paging, header: groupHeader },
              signal,
            });
      return {
        query,
        // The mask selects exactly these fields.
        groups: data.result as ListedGroup[],
        total: data.total_results,
      };
    },
  });
}

/** Columns by which groups can be sorted. */
const SORTS = ['groupname', 'member_count'] as const;

/** The groups query, as in the URL parameters. */
export interface GroupsQuery {
  q: string;

  /** Whether to list only the user's groups. */
  mine: boolean;

  /**
   * Sort order. Defaults to the name, or to the best match first when
   * searching.
   */
  sort: (typeof SORTS)[number] | `-${(typeof SORTS)[number]}` | undefined;

  /** Page number, starting at 1. */
  page: number;
}

export type SetGroupsQuery = SetQuery<GroupsQuery>;

function readQuery(params: URLSearchParams): GroupsQuery {
  return {
    q: params.get('q') ?? '',
    mine: params.has('mine'),
    sort: readSort(params, SORTS),
    page: readPage(params),
  };
}

/** Returns the query in the URL and a function that changes it. */
export function useGroupsQuery(): [GroupsQuery, SetGroupsQuery] {
  return useUrlQuery(readQuery);
}
