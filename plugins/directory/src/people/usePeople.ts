import {
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { isFiltered, type PeopleQuestion } from './peopleQuery';
import { readSearchText, type SearchTerm } from './readSearchText';
import {
  type FieldAnswer,
  listColleagues,
  listPeople,
  type MergedMatches,
  mergeMatches,
  type PeoplePageData,
  searchPeople,
  withoutMatches,
} from './searchPeople';

/** Users on a page: divisible by two, three, four and six columns. */
export const PAGE_SIZE = 24;

/** Users of each field when several fields share a page. */
const PREVIEW_SIZE = 12;

/** Users to show, and the list that they are from. */
export interface PeopleAnswer extends MergedMatches {
  list: 'found' | 'filtered' | 'everybody' | 'mine';
}

/**
 * Queries the users of a page. Each field is a separate request; all requests
 * are aborted when the query changes.
 */
export function usePeople(question: PeopleQuestion, task: PeopleTask) {
  const { groups, before, has, page } = question;
  const filters = { groups, before, has };

  return useDirectoryQuery({
    key: ['people', task, filters, page],
    enabled: task.kind !== 'tooShort',
    keepPrevious: true,
    load: async (client, signal): Promise<PeopleAnswer> => {
      const onPage = { filters, page, pageSize: PAGE_SIZE, signal };
      const preview = { filters, page: 1, pageSize: PREVIEW_SIZE, signal };
      const everybody = async () =>
        withoutMatches(await listPeople(client, onPage));

      switch (task.kind) {
        case 'fields': {
          const answers = await askFields(task.terms, term =>
            searchPeople(client, { ...preview, term }),
          );
          return { list: 'found', ...mergeMatches(answers) };
        }
        case 'field': {
          const { term } = task;
          const found = await searchPeople(client, { ...onPage, term });
          return { list: 'found', ...mergeMatches([{ term, page: found }]) };
        }
        case 'filtered':
          return {
            list: 'filtered',
            ...withoutMatches(await searchPeople(client, onPage)),
          };
        case 'everybody':
          return { list: 'everybody', ...(await everybody()) };
        default: {
          const colleagues = await askColleagues(client, onPage);
          return colleagues.total > 0
            ? { list: 'mine', ...withoutMatches(colleagues) }
            : { list: 'everybody', ...(await everybody()) };
        }
      }
    },
  });
}

/**
 * Searches all fields in parallel. A field that fails is reported as such; the
 * query fails when all fields fail.
 */
async function askFields(
  terms: readonly SearchTerm[],
  ask: (term: SearchTerm) => Promise<PeoplePageData>,
): Promise<FieldAnswer[]> {
  const outcomes = await Promise.allSettled(terms.map(ask));
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

/** Lists the colleagues: none when the directory has no such user. */
async function askColleagues(
  client: DirectoryClient,
  options: { pageSize: number; signal: AbortSignal },
): Promise<PeoplePageData> {
  try {
    return await listColleagues(client, options);
  } catch (error) {
    if (isDirectoryResponseError(error) && error.status === 403) {
      return { people: [], total: 0 };
    }
    throw error;
  }
}

/** The list that the page shows. */
export type PeopleTask =
  | { kind: 'tooShort' }
  | { kind: 'fields'; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'field'; term: SearchTerm; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'filtered' }
  | { kind: 'everybody' }
  | { kind: 'mine' };

/** Selects the list for a query. */
export function readTask(question: PeopleQuestion): PeopleTask {
  const plan = readSearchText(question.text, question);
  if (plan.kind === 'tooShort') {
    return plan;
  }
  if (plan.kind === 'nothing') {
    if (isFiltered(question)) {
      return { kind: 'filtered' };
    }
    return { kind: question.everybody ? 'everybody' : 'mine' };
  }
  const { terms, canWiden } = plan;
  const [first, second] = terms;
  const only = terms.find(({ field }) => field === question.only);
  return only || !second
    ? { kind: 'field', term: only ?? first, terms, canWiden }
    : { kind: 'fields', terms, canWiden };
}
