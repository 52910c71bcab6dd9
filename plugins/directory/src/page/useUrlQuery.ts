import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';

/** Changes the query; `replace` adds no entry to the browser's history. */
export type Ask<Question> = (
  change: Partial<Question>,
  options?: { replace?: boolean },
) => void;

/** Reads the query of a page from its URL and writes it there. */
interface QuestionFormat<Question> {
  read: (params: URLSearchParams) => Question;

  /** Returns the URL parameters by name, without default values. */
  write: (
    question: Question,
  ) => Record<string, string | readonly string[] | undefined>;
}

/**
 * Returns the query in the URL and a function that changes it. A change goes to
 * the first page, unless it changes the page or the view.
 *
 * @param format - must be the same object in each render
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

/** Returns the page number in a URL, counted from 1. Defaults to 1. */
export function readPage(params: URLSearchParams): number {
  const page = params.get('page');
  return page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}

/** Returns the URL parameter of a page number; `undefined` for the first page. */
export function writePage(page: number): string | undefined {
  return page > 1 ? String(page) : undefined;
}
