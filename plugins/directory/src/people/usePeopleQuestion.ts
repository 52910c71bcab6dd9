import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../page/useUrlQuery';
import { type PeopleQuestion, PRESENCE_FIELDS } from './peopleQuery';
import type { SearchField } from './searchFields';

/** Asks for other people. */
export type AskPeople = Ask<PeopleQuestion>;

const format = {
  read(params: URLSearchParams): PeopleQuestion {
    const has = params.getAll('has');
    const before = params.get('before');
    return {
      text: params.get('q') ?? '',
      groups: params.getAll('group'),
      before: before && /^\d{4}-\d\d-\d\d$/.test(before) ? before : undefined,
      has: PRESENCE_FIELDS.filter(field => has.includes(field)),
      only: (params.get('in') as SearchField | null) ?? undefined,
      wide: params.has('wide'),
      everybody: params.has('everybody'),
      page: readPage(params),
      view: params.get('view') === 'table' ? 'table' : 'cards',
    };
  },
  write: (question: PeopleQuestion) => ({
    q: question.text || undefined,
    group: question.groups,
    before: question.before,
    has: question.has,
    in: question.only,
    wide: question.wide ? '' : undefined,
    everybody: question.everybody ? '' : undefined,
    page: writePage(question.page),
    view: question.view === 'table' ? question.view : undefined,
  }),
};

/** The question that the URL asks, and a function that changes it. */
export function usePeopleQuestion(): [PeopleQuestion, AskPeople] {
  return useQuestion<PeopleQuestion>(format);
}
