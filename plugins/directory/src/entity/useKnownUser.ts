import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';

/** Groups that are named on a card. */
const NAMED_GROUPS = 5;

const FIELDS = [
  'username',
  'human_name',
  'timezone',
  'is_private',
  'locked',
] as const;

/** What a card says about a user. */
export interface KnownUser {
  person: Required<Pick<MaskedUser, (typeof FIELDS)[number]>>;

  /** The first of their groups. */
  groups: string[];
  groupCount: number;
}

/** Asks for what a card says about a user. */
export function useKnownUser(username: string) {
  return useDirectoryQuery({
    key: ['known user', username],
    load: async (client, signal): Promise<KnownUser> => {
      const path = { username };
      const [user, memberships] = await Promise.all([
        client.get('/users/{username}/', {
          params: { path, header: { 'X-Fields': FIELDS.join(',') } },
          signal,
        }),
        client.get('/users/{username}/memberships/', {
          params: {
            path,
            header: { 'X-Fields': 'groupname' },
            query: { page_size: NAMED_GROUPS },
          },
          signal,
        }),
      ]);
      return {
        // The mask asks for exactly these fields: none of them is missing.
        person: user.data.result as KnownUser['person'],
        groups: memberships.data.result.map(({ groupname }) => groupname!),
        groupCount: memberships.data.total_results,
      };
    },
  });
}
