import type {
  DirectoryClient,
  operations,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { PeopleFilters } from './peopleQuery';
import type { SearchTerm } from './readSearchText';
import { type FoundPerson, PERSON_FIELDS } from './searchFields';

/** A page of a list of people. */
export interface PeoplePageData {
  people: FoundPerson[];
  total: number;
}

/** Options of {@link searchPeople}. */
export interface SearchPeopleOptions {
  /** Without it, the filters alone are asked. */
  term?: SearchTerm;
  filters: PeopleFilters;
  page: number;
  pageSize: number;
  signal: AbortSignal;
}

type SearchQuery = NonNullable<operations['search']['parameters']['query']>;

const header = { 'X-Fields': PERSON_FIELDS.join(',') };

/** Asks for people with a text in one field, whom the filters let through. */
export async function searchPeople(
  client: DirectoryClient,
  options: SearchPeopleOptions,
): Promise<PeoplePageData> {
  const { term, filters, page, pageSize, signal } = options;
  const query: SearchQuery = {
    ...Object.fromEntries(filters.has.map(field => [field, '*'])),
    ...(term && { [term.field]: term.value }),
    ...(filters.groups.length && { group: [...filters.groups] }),
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

/** Asks for a page of everybody. */
export async function listPeople(
  client: DirectoryClient,
  options: { page: number; pageSize: number; signal: AbortSignal },
): Promise<PeoplePageData> {
  const { page, pageSize, signal } = options;
  const { data } = await client.get('/users/', {
    params: { query: { page_number: page, page_size: pageSize }, header },
    signal,
  });
  return toPage(data);
}

/** Asks for the people of the reader's groups, the latest to join first. */
export async function listColleagues(
  client: DirectoryClient,
  options: { pageSize: number; signal: AbortSignal },
): Promise<PeoplePageData> {
  const { pageSize, signal } = options;
  const { data } = await client.get('/me/colleagues/', {
    params: { query: { page_size: pageSize }, header },
    signal,
  });
  return toPage(data);
}

/** The mask asks for exactly these fields, so that none of them is missing. */
function toPage(data: { result: object[]; total_results: number }) {
  return { people: data.result as FoundPerson[], total: data.total_results };
}
