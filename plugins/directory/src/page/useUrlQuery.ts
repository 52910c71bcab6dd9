import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';

/** Changes the question; `replace` leaves no step in the browser's history. */
export type Ask<Question> = (
  change: Partial<Question>,
  options?: { replace?: boolean },
) => void;

/** How a page's question is put into its URL. */
export interface QuestionFormat<Question> {
  read: (params: URLSearchParams) => Question;

  /** What goes into the URL, by name; nothing for what is as it is at first. */
  write: (
    question: Question,
  ) => Record<string, string | readonly string[] | undefined>;
}

/**
 * The question that the URL asks, and a function that changes it. A change
 * goes to the first page, unless it is the page or the view that changes.
 *
 * @param format - one that stays the same
 */
export function useQuestion<Question extends { page: number }>(
  format: QuestionFormat<Question>,
): [Question, Ask<Question>] {
  const [params, setParams] = useSearchParams();
  const question = useMemo(() => format.read(params), [format, params]);

  const ask = useCallback<Ask<Question>>(
    (change, options) =>
      setParams(
        previous => {
          const isSameList = 'page' in change || 'view' in change;
          const next = {
            ...format.read(previous),
            ...(isSameList ? {} : { page: 1 }),
            ...change,
          };
          return pairs(format.write(next));
        },
        { replace: options?.replace },
      ),
    [format, setParams],
  );
  return [question, ask];
}

function pairs(
  values: Record<string, string | readonly string[] | undefined>,
): [string, string][] {
  return Object.entries(values).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
}
