import type { MaskedGroup } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';

const FIELDS = [
  'groupname',
  'description',
  'mailing_list',
  'url',
  'irc',
  'discussion_url',
  'member_count',
] as const;

/** Everything about a group, and how many members it has. */
export type GroupDetails = Required<Pick<MaskedGroup, (typeof FIELDS)[number]>>;

const header = { 'X-Fields': FIELDS.join(',') };

/** Asks for a group. */
export function useGroup(groupname: string) {
  return useDirectoryQuery({
    key: ['group', groupname],
    load: async (client, signal) => {
      const { data } = await client.get('/groups/{groupname}/', {
        params: { path: { groupname }, header },
        signal,
      });
      // The mask asks for exactly these fields: none of them is missing.
      return data.result as GroupDetails;
    },
  });
}
