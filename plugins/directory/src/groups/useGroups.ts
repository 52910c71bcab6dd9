import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isTooShort } from '../page/TextSearch';
import type { GroupsQuestion } from './useGroupsQuestion';

/** Groups on a page of the list. */
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
export interface GroupsAnswer {
  groups: ListedGroup[];
  total: number;
}

const header = { 'X-Fields': FIELDS.join(',') };

/** Asks for a page of all groups, or of those with a text. */
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
        // The mask asks for exactly these fields: none of them is missing.
        groups: data.result as ListedGroup[],
        total: data.total_results,
      };
    },
  });
}
