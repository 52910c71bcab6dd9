import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';
import { type PeopleQuestion, PRESENCE_FIELDS } from './PeopleQuestion';
import type { SearchField } from './searchFields';

/** Changes the question; `replace` leaves no step in the browser's history. */
export type AskPeople = (
  change: Partial<PeopleQuestion>,
  options?: { replace?: boolean },
) => void;

/**
 * The question that the URL asks, and a function that changes it. A change
 * goes to the first page, unless it is the page or the view that changes.
 */
export function usePeopleQuestion(): [PeopleQuestion, AskPeople] {
  const [params, setParams] = useSearchParams();
  const question = useMemo(() => readQuestion(params), [params]);

  const ask = useCallback<AskPeople>(
    (change, options) =>
      setParams(
        previous => {
          const isSameList = 'page' in change || 'view' in change;
          return writeQuestion({
            ...readQuestion(previous),
            ...(isSameList ? {} : { page: 1 }),
            ...change,
          });
        },
        { replace: options?.replace },
      ),
    [setParams],
  );
  return [question, ask];
}

function readQuestion(params: URLSearchParams): PeopleQuestion {
  const has = params.getAll('has');
  const before = params.get('before');
  const page = params.get('page');
  return {
    text: params.get('q') ?? '',
    groups: params.getAll('group'),
    before: before && /^\d{4}-\d\d-\d\d$/.test(before) ? before : undefined,
    has: PRESENCE_FIELDS.filter(field => has.includes(field)),
    only: (params.get('in') as SearchField | null) ?? undefined,
    wide: params.has('wide'),
    everybody: params.has('everybody'),
    page: page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1,
    view: params.get('view') === 'table' ? 'table' : 'cards',
  };
}

function writeQuestion(question: PeopleQuestion): URLSearchParams {
  const { text, groups, before, has, only, wide, everybody, page, view } =
    question;
  return new URLSearchParams([
    ...(text ? [['q', text]] : []),
    ...groups.map(group => ['group', group]),
    ...(before ? [['before', before]] : []),
    ...has.map(field => ['has', field]),
    ...(only ? [['in', only]] : []),
    ...(wide ? [['wide', '']] : []),
    ...(everybody ? [['everybody', '']] : []),
    ...(page > 1 ? [['page', String(page)]] : []),
    ...(view === 'table' ? [['view', view]] : []),
  ]);
}
