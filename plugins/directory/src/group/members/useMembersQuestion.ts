import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';
import { readPage } from '../../search';

/** How somebody is a member. */
export const MEMBERSHIPS = ['all', 'direct', 'indirect'] as const;

/** Which members are listed, and how: everything that the URL says. */
export interface MembersQuestion {
  /** What was typed. */
  text: string;

  membership: (typeof MEMBERSHIPS)[number];

  /** Counted from 1. */
  page: number;

  view: 'cards' | 'table';
}

/** Changes the question; `replace` leaves no step in the browser's history. */
export type AskMembers = (
  change: Partial<MembersQuestion>,
  options?: { replace?: boolean },
) => void;

/**
 * The question that the URL asks, and a function that changes it. A change
 * goes to the first page, unless it is the page or the view that changes.
 */
export function useMembersQuestion(): [MembersQuestion, AskMembers] {
  const [params, setParams] = useSearchParams();
  const question = useMemo(() => readQuestion(params), [params]);
  const ask = useCallback<AskMembers>(
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

function readQuestion(params: URLSearchParams): MembersQuestion {
  const membership = params.get('membership');
  return {
    text: params.get('q') ?? '',
    membership: MEMBERSHIPS.find(one => one === membership) ?? 'all',
    page: readPage(params),
    view: params.get('view') === 'table' ? 'table' : 'cards',
  };
}

function writeQuestion(question: MembersQuestion): URLSearchParams {
  const { text, membership, page, view } = question;
  return new URLSearchParams([
    ...(text ? [['q', text]] : []),
    ...(membership === 'all' ? [] : [['membership', membership]]),
    ...(page > 1 ? [['page', String(page)]] : []),
    ...(view === 'table' ? [['view', view]] : []),
  ]);
}
