import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';
import { readPage } from '../search';

/** What the page of groups is about: everything that its URL says. */
export interface GroupsQuestion {
  /** What was typed. */
  text: string;

  /** Counted from 1. */
  page: number;
}

/** Changes the question; `replace` leaves no step in the browser's history. */
export type AskGroups = (
  question: GroupsQuestion,
  options?: { replace?: boolean },
) => void;

/** The question that the URL asks, and a function that asks another. */
export function useGroupsQuestion(): [GroupsQuestion, AskGroups] {
  const [params, setParams] = useSearchParams();
  const question = useMemo(
    () => ({ text: params.get('q') ?? '', page: readPage(params) }),
    [params],
  );
  const ask = useCallback<AskGroups>(
    ({ text, page }, options) =>
      setParams(
        [
          ...(text ? [['q', text] as [string, string]] : []),
          ...(page > 1 ? [['page', String(page)] as [string, string]] : []),
        ],
        { replace: options?.replace },
      ),
    [setParams],
  );
  return [question, ask];
}
