import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';

/** Changes the query; `replace` adds no entry to the browser's history. */
export type SetQuery<Query> = (
  change: Partial<Query>,
  options?: { replace?: boolean },
) => void;

/** Values of the URL parameters by name; `undefined` is left out. */
type UrlParams = Record<string, string | readonly string[] | undefined>;

/** Reads the query of a page from its URL and writes it there. */
interface UrlQueryFormat<Query> {
  read: (params: URLSearchParams) => Query;

  /** Returns the URL parameters without default values. */
  write: (query: Query) => UrlParams;
}

/**
 * Returns the query in the URL and a function that changes it. A change goes to
 * the first page, unless it changes the page or the view.
 *
 * @param format - must be the same object in each render
 */
export function useUrlQuery<Query extends { page: number }>(
  format: UrlQueryFormat<Query>,
): [Query, SetQuery<Query>] {
  const [params, setParams] = useSearchParams();
  const query = useMemo(() => format.read(params), [format, params]);

  const setQuery = useCallback<SetQuery<Query>>(
    (change, options) =>
      setParams(
        previous => {
          const isSameList = 'page' in change || 'view' in change;
          const next = {
            ...format.read(previous),
            ...(isSameList ? {} : { page: 1 }),
            ...change,
          };
          return toPairs(format.write(next));
        },
        { replace: options?.replace },
      ),
    [format, setParams],
  );
  return [query, setQuery];
}

function toPairs(params: UrlParams): [string, string][] {
  return Object.entries(params).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
}

/** Returns the page number in a URL, formatCount from 1. Defaults to 1. */
export function readPage(params: URLSearchParams): number {
  const page = params.get('page');
  return page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}

/** Returns the URL parameter of a page number; `undefined` for the first page. */
export function writePage(page: number): string | undefined {
  return page > 1 ? String(page) : undefined;
}
