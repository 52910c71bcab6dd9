import {
  type DirectoryClient,
  foldWords,
  isDirectoryResponseError,
  type operations,
} from '@directory-gateway/backstage-plugin-directory-common';
import { isNotFound } from '../api/useDirectoryQuery';
import { PAGE_SIZE } from '../page/Pagination';
import {
  type FoundPerson,
  MATCHED_FIELDS,
  type MatchedField,
  type PeopleFilters,
  PERSON_FIELDS,
  valuesOf,
} from './peopleQuery';

/** One page of a list of people. */
export interface PeoplePageData {
  people: FoundPerson[];
  total: number;
}

type SearchQuery = NonNullable<operations['search']['parameters']['query']>;

const header = { 'X-Fields': PERSON_FIELDS.join(',') };

/** Searches users by text, public key and filters. */
export async function searchPeople(
  client: DirectoryClient,
  options: {
    /** Search text. Defaults to none: filters only. */
    text?: string;

    /** Whether the text may be misspelled. Defaults to false. */
    similar?: boolean;

    /**
     * Fingerprint of an SSH key, or ID or fingerprint of an OpenPGP key.
     * Defaults to none.
     */
    key?: string;
    filters: PeopleFilters;
    page: number;

    /** Number of users on a page. Defaults to {@link PAGE_SIZE}. */
    pageSize?: number;
    signal: AbortSignal;
  },
): Promise<PeoplePageData> {
  const { text, similar, key, filters, page, signal } = options;
  const query: SearchQuery = {
    ...Object.fromEntries(filters.has.map(field => [field, '*'])),
    ...(text && { q: text, ...(similar && { similar }) }),
    ...(key && { key }),
    ...(filters.group.length && { group: [...filters.group] }),
    ...(filters.before && { creation__before: filters.before }),
    ...(filters.since && { creation__after: filters.since }),
    page_number: page,
    page_size: options.pageSize ?? PAGE_SIZE,
  };
  const { data } = await client.get('/search/users/', {
    params: { query, header },
    signal,
  });
  const { people, total } = toPage(data);
  const inGroup = filters.group.length > 0;
  return { people: people.map(person => ({ ...person, inGroup })), total };
}

/**
 * Searches users by their names and other fields; when no user matches, users
 * with similar names. The URL of a GitHub or GitLab profile searches its name.
 */
export async function searchPeopleByText(
  client: DirectoryClient,
  options: Pick<
    Parameters<typeof searchPeople>[1],
    'filters' | 'page' | 'pageSize' | 'signal'
  > & { text: string },
): Promise<PeoplePageData & { list: 'found' | 'similar' }> {
  const search = { ...options, text: nameIn(options.text) };
  const found = await searchPeople(client, search);
  if (found.total > 0) {
    return { list: 'found', ...found };
  }
  const similar = await searchPeople(client, { ...search, similar: true });
  return { list: similar.total > 0 ? 'similar' : 'found', ...similar };
}

/**
 * Returns the user name in the URL of a GitHub or GitLab profile; other text
 * unchanged.
 */
function nameIn(text: string): string {
  const [, name] =
    text.match(/^https?:\/\/(?:www\.)?git(?:hub|lab)\.com\/([^/?#]+)/i) ?? [];
  return name ?? text;
}

/** Lists a page of all users. */
export async function listPeople(
  client: DirectoryClient,
  options: { page: number; signal: AbortSignal },
): Promise<PeoplePageData> {
  const query = { page_number: options.page, page_size: PAGE_SIZE };
  const { data } = await client.get('/users/', {
    params: { query, header },
    signal: options.signal,
  });
  return toPage(data);
}

/**
 * Lists the members of the user's groups, most recently joined first; empty
 * when the portal user has no directory user.
 */
export async function listColleagues(
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<PeoplePageData> {
  try {
    const { data } = await client.get('/me/colleagues/', {
      params: { query: { page_size: PAGE_SIZE }, header },
      signal,
    });
    return toPage(data);
  } catch (error) {
    if (isDirectoryResponseError(error) && error.status === 403) {
      return { people: [], total: 0 };
    }
    throw error;
  }
}

/** Finds a user by user name; `undefined` if there is none. */
export async function findPerson(
  client: DirectoryClient,
  options: { username: string; signal: AbortSignal },
): Promise<FoundPerson | undefined> {
  try {
    const { data } = await client.get('/users/{username}/', {
      params: { path: { username: options.username }, header },
      signal: options.signal,
    });
    return data.result as FoundPerson;
  } catch (error) {
    if (isNotFound(error)) {
      return undefined;
    }
    throw error;
  }
}

/** The mask selects exactly the fields of a {@link FoundPerson}. */
function toPage(data: { result: object[]; total_results: number }) {
  return { people: data.result as FoundPerson[], total: data.total_results };
}

/** A matching field and its value. */
export interface Match {
  field: MatchedField;
  value: string;
}

/**
 * Returns the values, other than the user name and the full name, that match a
 * search text: those with most of the search words that the names do not
 * contain.
 */
export function otherMatches(person: FoundPerson, text: string): Match[] {
  const names = foldWords(`${person.username} ${person.human_name ?? ''}`);
  const words = foldWords(text).filter(
    word => !names.some(name => name.includes(word)),
  );
  const found = MATCHED_FIELDS.flatMap(field =>
    valuesOf(person, field).map(value => {
      const own = foldWords(value);
      const matched = words.filter(word =>
        own.some(part => part.includes(word)),
      );
      return { field, value, count: matched.length };
    }),
  );
  const most = Math.max(1, ...found.map(({ count }) => count));
  const closest = found.filter(({ count }) => count === most);
  return MATCHED_FIELDS.flatMap(name => {
    const match = closest.find(({ field }) => field === name);
    return match ? [{ field: name, value: match.value }] : [];
  });
}
