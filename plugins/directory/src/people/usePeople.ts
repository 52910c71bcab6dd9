import {
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import {
  type FieldAnswer,
  type MergedMatches,
  mergeMatches,
  withoutMatches,
} from './mergeMatches';
import type { PeopleQuestion } from './peopleQuery';
import type { SearchTerm } from './readSearchText';
import type { PeopleTask } from './readTask';
import {
  listColleagues,
  listPeople,
  type PeoplePageData,
  searchPeople,
} from './searchPeople';

/** People on a page: it divides by two, three, four and six columns. */
export const PAGE_SIZE = 24;

/** People of each field where several fields share a page. */
const PREVIEW_SIZE = 12;

/** People to show, and what they are. */
export interface PeopleAnswer extends MergedMatches {
  list: 'found' | 'filtered' | 'everybody' | 'mine';
}

/**
 * Asks what a question asks for. Every field is a question of its own to the
 * server; all of them are called off when the reader types on.
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
 * Asks in every field at once. A field that fails is told apart; when all do,
 * so does the question.
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

/** Nobody, for a reader whom the directory does not know. */
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
