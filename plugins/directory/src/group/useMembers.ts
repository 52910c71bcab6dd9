import type {
  components,
  DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  useCurrentUser,
  useDirectoryQuery,
  useMay,
} from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';
import {
  readPage,
  readSort,
  type SetQuery,
  useUrlQuery,
} from '../page/useUrlQuery';
import { type FoundPerson, PERSON_FIELDS } from '../people/peopleQuery';

const REASON_FIELDS = ['direct', 'sponsor', 'path'] as const;

/** A member in a list, with the reason for the membership. */
export type Member = FoundPerson &
  Required<
    Pick<
      components['schemas']['GroupMembership'],
      (typeof REASON_FIELDS)[number]
    >
  > & {
    /**
     * Time at which a direct member was added, for users who may read the
     * history.
     */
    joined?: string | null;
  };

/**
 * Queries a page of a group's members; the server searches, filters and sorts.
 * The result contains its query: while another one loads, it is an earlier one.
 */
export function useMembers(groupname: string, query: MembersQuery) {
  return useDirectoryQuery({
    key: ['members', groupname, selectionOf(query), query.page],
    keepPrevious: true,
    load: async (client, signal) => {
      const { data } = await listMembers(client, {
        groupname,
        query,
        fields: [...PERSON_FIELDS, ...REASON_FIELDS],
        signal,
      });
      return {
        query,
        // The mask selects exactly these fields.
        people: data.result.map(
          member => ({ ...member, inGroup: true }) as Member,
        ),
        total: data.total_results,
      };
    },
  });
}

/**
 * Queries when the members of a page were added, by user name. Separate from
 * the members, which need not wait for the history.
 */
export function useJoinTimes(
  groupname: string,
  options: { query: MembersQuery; enabled: boolean },
) {
  const { query, enabled } = options;
  return useDirectoryQuery({
    key: ['join-times', groupname, selectionOf(query), query.page],
    enabled,
    keepPrevious: true,
    load: async (client, signal) => {
      const { data } = await listMembers(client, {
        groupname,
        query,
        fields: ['username', 'joined'],
        signal,
      });
      return new Map(
        data.result.map(({ username, joined }) => [username, joined]),
      );
    },
  });
}

function listMembers(
  client: DirectoryClient,
  options: {
    groupname: string;
    query: MembersQuery;
    fields: readonly string[];
    signal: AbortSignal;
  },
) {
  const { groupname, query, fields, signal } = options;
  return client.get('/groups/{groupname}/memberships/', {
    params: {
      path: { groupname },
      header: { 'X-Fields': fields.join(',') },
      query: {
        ...selectionOf(query),
        page_number: query.page,
        page_size: PAGE_SIZE,
      },
    },
    signal,
  });
}

/** Returns the API parameters that select and sort members. */
export function selectionOf({ q, membership, sort }: MembersQuery) {
  return {
    q: q || undefined,
    membership: membership === 'all' ? undefined : membership,
    sort,
  };
}

/** Fields of a sponsor, without `locked`: sponsors are never locked. */
const sponsorHeader = {
  'X-Fields': PERSON_FIELDS.filter(field => field !== 'locked').join(','),
};

/** Queries the sponsors of a group. */
export function useSponsors(groupname: string) {
  return useDirectoryQuery({
    key: ['sponsors', groupname],
    load: async (client, signal): Promise<FoundPerson[]> => {
      const { data } = await client.get('/groups/{groupname}/sponsors/', {
        params: { path: { groupname }, header: sponsorHeader },
        signal,
      });
      // The mask selects exactly these fields.
      return data.result.map(
        sponsor => ({ ...sponsor, locked: false }) as FoundPerson,
      );
    },
  });
}

/** Whether the user is a sponsor of a group; `undefined` while loading. */
export function useIsSponsor(groupname: string): boolean | undefined {
  const user = useCurrentUser();
  const sponsors = useSponsors(groupname);
  if (user.isPending || sponsors.isPending) {
    return undefined;
  }
  return sponsors.data?.some(({ username }) => username === user.data) ?? false;
}

/** Whether the user may read the history of a group, if histories exist. */
export function useMayReadHistory(groupname: string): boolean {
  const mayReadAll = useMay('directory.history.read');
  return useIsSponsor(groupname) === true || mayReadAll;
}

/** Kinds of membership. */
export const MEMBERSHIPS = ['all', 'direct', 'indirect', 'locked'] as const;

/** Columns by which members can be sorted. */
const SORTS = [
  'human_name',
  'direct',
  'sponsor',
  'joined',
  'timezone',
] as const;

/** The members query, as in the URL parameters. */
export interface MembersQuery {
  q: string;

  membership: (typeof MEMBERSHIPS)[number];

  /** Sort order. Defaults to the user name. */
  sort: (typeof SORTS)[number] | `-${(typeof SORTS)[number]}` | undefined;

  /** Page number, starting at 1. */
  page: number;
}

export type SetMembersQuery = SetQuery<MembersQuery>;

function readQuery(params: URLSearchParams): MembersQuery {
  const membership = params.get('membership');
  return {
    q: params.get('q') ?? '',
    membership: MEMBERSHIPS.find(one => one === membership) ?? 'all',
    sort: readSort(params, SORTS),
    page: readPage(params),
  };
}

/** Returns the query in the URL and a function that changes it. */
export function useMembersQuery(): [MembersQuery, SetMembersQuery] {
  return useUrlQuery(readQuery);
}
