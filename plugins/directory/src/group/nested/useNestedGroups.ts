import type { MaskedMemberGroup } from '@directory-gateway/backstage-plugin-directory-common';
import {
  collect,
  LARGEST_PAGE,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';

const FIELDS = [
  'groupname',
  'description',
  'member_count',
  'has_member_groups',
] as const;

/** A group that is nested in another. */
export type NestedGroup = Required<
  Pick<MaskedMemberGroup, (typeof FIELDS)[number]>
>;

const header = { 'X-Fields': FIELDS.join(',') };

/** Asks for the groups that are members of a group, one level deep. */
export function useNestedGroups(groupname: string) {
  return useDirectoryQuery({
    key: ['member groups', groupname],
    load: async (client, signal) => {
      const groups = await collect(
        page =>
          client.get('/groups/{groupname}/member-groups/', {
            params: {
              path: { groupname },
              header,
              query: {
                page_number: page.page_number,
                page_size: LARGEST_PAGE,
              },
            },
            signal: page.signal,
          }),
        signal,
      );
      // The mask asks for exactly these fields: none of them is missing.
      return groups as NestedGroup[];
    },
  });
}
