import type { Membership } from '@directory-gateway/backstage-plugin-directory-common';
import {
  collect,
  LARGEST_PAGE,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';

/** The groups somebody belongs to or looks after. */
export interface Memberships {
  /** Direct ones first, then by name as the server orders them. */
  memberships: Membership[];

  /** Names of the groups they sponsor without being in. */
  sponsoredOnly: string[];
}

/** Asks for somebody's groups, why they are in them, and whom they sponsor. */
export function useMemberships(username: string) {
  return useDirectoryQuery({
    key: ['memberships', username],
    load: async (client, signal): Promise<Memberships> => {
      const path = { username };
      const onPage = (page_number: number) => ({
        params: { path, query: { page_number, page_size: LARGEST_PAGE } },
        signal,
      });
      const [memberships, sponsored] = await Promise.all([
        collect(
          ({ page_number }) =>
            client.get('/users/{username}/memberships/', onPage(page_number)),
          signal,
        ),
        collect(
          ({ page_number }) =>
            client.get(
              '/users/{username}/sponsored-groups/',
              onPage(page_number),
            ),
          signal,
        ),
      ]);
      const names = new Set(memberships.map(({ groupname }) => groupname));
      return {
        memberships: [
          ...memberships.filter(({ direct }) => direct),
          ...memberships.filter(({ direct }) => !direct),
        ],
        sponsoredOnly: sponsored
          .map(({ groupname }) => groupname)
          .filter(groupname => !names.has(groupname)),
      };
    },
  });
}
