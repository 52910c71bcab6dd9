import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isFiltered, type PeopleQuery } from './peopleQuery';
import { readSearchText, type SearchTerm } from './readSearchText';
import {
  type FieldResult,
  listColleagues,
  listPeople,
  type MergedMatches,
  mergeMatches,
  type PeoplePageData,
  searchPeople,
  withoutMatches,
} from './searchPeople';

/** Users of each field when several fields share a page. */
const PREVIEW_SIZE = 12;

/** Users to show, and the list that they are from. */
export interface PeopleResult extends MergedMatches {
  list: 'found' | 'filtered' | 'all' | 'colleagues';
}

/**
 * Queries the users of a page. Each field is a separate request; all requests
 * are aborted when the query changes.
 */
export function usePeople(query: PeopleQuery, list: PeopleList) {
  const { group, before, has, page } = query;
  const filters = { group, before, has };

  return useDirectoryQuery({
    key: ['people', list, filters, page],
    enabled: list.kind !== 'tooShort',
    keepPrevious: true,
    load: async (client, signal): Promise<PeopleResult> => {
      if (list.kind === 'fields') {
        const results = await searchFields(list.terms, term =>
          searchPeople(client, {
            term,
            filters,
            page: 1,
            pageSize: PREVIEW_SIZE,
            signal,
          }),
        );
        return { list: 'found', ...mergeMatches(results) };
      }
      if (list.kind === 'field') {
        const { term } = list;
        const found = await searchPeople(client, {
          term,
          filters,
          page,
          signal,
        });
        return { list: 'found', ...mergeMatches([{ term, page: found }]) };
      }
      if (list.kind === 'filtered') {
        const found = await searchPeople(client, { filters, page, signal });
        return { list: 'filtered', ...withoutMatches(found) };
      }
      if (list.kind === 'colleagues') {
        const colleagues = await listColleagues(client, signal);
        if (colleagues.total > 0) {
          return { list: 'colleagues', ...withoutMatches(colleagues) };
        }
      }
      const all = await listPeople(client, { page, signal });
      return { list: 'all', ...withoutMatches(all) };
    },
  });
}

/**
 * Searches all fields in parallel. A field that fails is reported as such; the
 * query fails when all fields fail.
 */
async function searchFields(
  terms: readonly SearchTerm[],
  search: (term: SearchTerm) => Promise<PeoplePageData>,
): Promise<FieldResult[]> {
  const outcomes = await Promise.allSettled(terms.map(search));
  const [first] = outcomes;
  if (
    first.status === 'rejected' &&
    outcomes.every(({ status }) => status === 'rejected')
  ) {
    throw first.reason;
  }
  return outcomes.map((outcome, index) => ({
    term: terms[index],
    ...(outcome.status === 'fulfilled'
      ? { page: outcome.value }
      : { error: outcome.reason }),
  }));
}

/** The list that the page shows. */
export type PeopleList =
  | { kind: 'tooShort' }
  | { kind: 'fields'; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'field'; term: SearchTerm; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'filtered' }
  | { kind: 'all' }
  | { kind: 'colleagues' };

/** Selects the list for a query. */
export function selectList(query: PeopleQuery): PeopleList {
  const plan = readSearchText(query.q, query.wide);
  if (plan.kind === 'tooShort') {
    return plan;
  }
  if (plan.kind === 'nothing') {
    if (isFiltered(query)) {
      return { kind: 'filtered' };
    }
    return { kind: query.all ? 'all' : 'colleagues' };
  }
  const { terms, canWiden } = plan;
  const [first, second] = terms;
  const selected = terms.find(({ field }) => field === query.field);
  return selected || !second
    ? { kind: 'field', term: selected ?? first, terms, canWiden }
    : { kind: 'fields', terms, canWiden };
}
