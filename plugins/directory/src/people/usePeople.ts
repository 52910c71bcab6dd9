import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import {
  readFingerprint,
  readSshKey,
  sshFingerprint,
} from '../components/readSshKey';
import {
  isFiltered,
  type PeopleFilters,
  type PeopleQuery,
} from './peopleQuery';
import {
  listColleagues,
  listPeople,
  type PeoplePageData,
  searchPeople,
  searchPeopleByText,
} from './searchPeople';

/** Maximum number of groups above the users. */
const MAX_GROUPS = 5;

/** Users to show, and which list they are from. */
export interface PeopleResult extends PeoplePageData {
  list: 'found' | 'key' | 'similar' | 'filtered' | 'all' | 'colleagues';

  /** Query of this result: an earlier one while another one loads. */
  query: PeopleQuery;

  /** Names of groups that contain the search text. Defaults to none. */
  groups?: readonly string[];
}

/** Queries the users of a page. Changing the query aborts pending requests. */
export function usePeople(query: PeopleQuery) {
  return useDirectoryQuery({
    key: ['people', query],
    keepPrevious: true,
    load: async (client, signal): Promise<PeopleResult> => ({
      query,
      ...(await loadPeople(client, { query, signal })),
    }),
  });
}

async function loadPeople(
  client: DirectoryClient,
  options: { query: PeopleQuery; signal: AbortSignal },
): Promise<Omit<PeopleResult, 'query'>> {
  const { query, signal } = options;
  const { q, all, page } = query;
  if (q) {
    return findPeople(client, { q, filters: query, page, signal });
  }
  if (isFiltered(query)) {
    const found = await searchPeople(client, { filters: query, page, signal });
    return { list: 'filtered', ...found };
  }
  if (!all) {
    const colleagues = await listColleagues(client, signal);
    if (colleagues.total > 0) {
      return { list: 'colleagues', ...colleagues };
    }
  }
  const people = await listPeople(client, { page, signal });
  return { list: 'all', ...people };
}

/**
 * Finds the users with an SSH key; otherwise users by their names, or with
 * similar names, and groups by their names.
 */
async function findPeople(
  client: DirectoryClient,
  options: Pick<PeopleQuery, 'q' | 'page'> & {
    filters: PeopleFilters;
    signal: AbortSignal;
  },
): Promise<Omit<PeopleResult, 'query'>> {
  const { q, signal } = options;
  const key = await fingerprintIn(q);
  if (key) {
    return {
      list: 'key',
      ...(await searchPeople(client, { ...options, key })),
    };
  }
  const [people, groups] = await Promise.all([
    searchPeopleByText(client, { ...options, text: q }),
    client.get('/search/groups/', {
      params: {
        query: { q, page_size: MAX_GROUPS },
        header: { 'X-Fields': 'groupname' },
      },
      signal,
    }),
  ]);
  // The search also finds groups by their description.
  const names = groups.data.result.flatMap(({ groupname }) =>
    groupname?.toLowerCase().includes(q.toLowerCase()) ? [groupname] : [],
  );
  return { ...people, groups: names };
}

/** Returns the fingerprint of the SSH key in a text, or the fingerprint in it. */
async function fingerprintIn(text: string) {
  const key = readSshKey(text);
  return key ? await sshFingerprint(key.blob) : readFingerprint(text);
}
