import {
  type DirectoryClient,
  isDirectoryResponseError,
  type operations,
} from '@directory-gateway/backstage-plugin-directory-common';
import { PAGE_SIZE } from '../page/Pagination';
import {
  type FoundPerson,
  type PeopleFilters,
  PERSON_FIELDS,
  type SearchField,
  valuesOf,
} from './peopleQuery';
import type { SearchTerm } from './readSearchText';

/** A page of a list of people. */
export interface PeoplePageData {
  people: FoundPerson[];
  total: number;
}

type SearchQuery = NonNullable<operations['search']['parameters']['query']>;

const header = { 'X-Fields': PERSON_FIELDS.join(',') };

/** Searches users by a text in one field and by the filters. */
export async function searchPeople(
  client: DirectoryClient,
  options: {
    /** Text to search. Defaults to none: the filters only. */
    term?: SearchTerm;
    filters: PeopleFilters;
    page: number;

    /** Defaults to {@link PAGE_SIZE}. */
    pageSize?: number;
    signal: AbortSignal;
  },
): Promise<PeoplePageData> {
  const { term, filters, page, pageSize = PAGE_SIZE, signal } = options;
  const query: SearchQuery = {
    ...Object.fromEntries(filters.has.map(field => [field, '*'])),
    ...(term && { [term.field]: term.value }),
    ...(filters.group.length && { group: [...filters.group] }),
    ...(filters.before && { creation__before: filters.before }),
    page_number: page,
    page_size: pageSize,
  };
  const { data } = await client.get('/search/users/', {
    params: { query, header },
    signal,
  });
  return toPage(data);
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
 * Lists the members of the user's groups, the latest to join first; none when
 * the directory has no such user.
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

/** The mask selects exactly these fields, so that none is missing. */
function toPage(data: { result: object[]; total_results: number }) {
  return { people: data.result as FoundPerson[], total: data.total_results };
}

/** Result of a search in one field. */
export type FieldResult = { term: SearchTerm } & (
  | { page: PeoplePageData; error?: undefined }
  | { page?: undefined; error: unknown }
);

/** A field that matched, and its value. */
export interface Match {
  field: SearchField;
  /** Searched text, to highlight it in the value. */
  text: string;
  value: string;
}

/** A user in the results, with all known matches. */
export interface MatchedPerson {
  person: FoundPerson;
  matches: Match[];
}

/** Matches in one field, without those of earlier fields. */
export interface MatchSection {
  /** `undefined` when no text was searched. */
  field: SearchField | undefined;
  people: MatchedPerson[];
  /** Number of matches in this field, on all pages. */
  total: number;
  /** Number of loaded matches that an earlier section shows. */
  shownAbove: number;
  error?: unknown;
}

/** The results of all fields. */
export interface MergedMatches {
  sections: MatchSection[];
  /** Number of users found: exactly, or at least. */
  count: number;
  isExact: boolean;
}

/**
 * Merges the results of several fields: each user appears once, in the section
 * of the first field that matched, with all matches. Counts are those of the
 * server; the number of users is exact only when every result is complete.
 */
export function mergeMatches(results: readonly FieldResult[]): MergedMatches {
  const found = new Map<string, MatchedPerson>();
  const sections = results.map(({ term, page, error }): MatchSection => {
    const section: MatchSection = {
      field: term.field,
      people: [],
      total: page?.total ?? 0,
      shownAbove: 0,
      error,
    };
    for (const person of page?.people ?? []) {
      const match = matchOf(person, term);
      const known = found.get(person.username);
      if (known) {
        known.matches.push(match);
        section.shownAbove += 1;
      } else {
        const matched = { person, matches: [match] };
        found.set(person.username, matched);
        section.people.push(matched);
      }
    }
    return section;
  });
  const isExact = results.every(
    ({ page }) => page && page.people.length >= page.total,
  );
  return {
    sections,
    isExact: isExact || results.length === 1,
    count: Math.max(found.size, ...sections.map(({ total }) => total)),
  };
}

/** Returns a list without a searched text in the shape of results. */
export function withoutMatches({ people, total }: PeoplePageData) {
  const section: MatchSection = {
    field: undefined,
    people: people.map(person => ({ person, matches: [] })),
    total,
    shownAbove: 0,
  };
  return { sections: [section], isExact: true, count: total };
}

/** Returns the value that matched; the server folds more than case, so it may be another. */
function matchOf(person: FoundPerson, term: SearchTerm): Match {
  const values = valuesOf(person, term.field);
  const wanted = term.value.toLowerCase();
  const value = values.find(text => text.toLowerCase().includes(wanted));
  return {
    field: term.field,
    text: term.value,
    value: value ?? values[0] ?? '',
  };
}
