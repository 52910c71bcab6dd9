import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';

/** Changes the query; `replace` adds no entry to the browser's history. */
export type SetQuery<Query> = (
  change: Partial<Query>,
  options?: { replace?: boolean },
) => void;

/**
 * Returns the query in the URL and a function that changes it. Properties of the
 * query are URL parameters of the same name; those with default values are left
 * out. A change goes to the first page, unless it changes the page or the view.
 *
 * @param read - must be the same function in each render
 */
export function useUrlQuery<Query extends { page: number }>(
  read: (params: URLSearchParams) => Query,
): [Query, SetQuery<Query>] {
  const [params, setParams] = useSearchParams();
  const query = useMemo(() => read(params), [read, params]);

  const setQuery = useCallback<SetQuery<Query>>(
    (change, options) =>
      setParams(
        previous => {
          const isSameList = 'page' in change || 'view' in change;
          const next = {
            ...read(previous),
            ...(isSameList ? {} : { page: 1 }),
            ...change,
          };
          return toParams(next, read(new URLSearchParams()));
        },
        { replace: options?.replace },
      ),
    [read, setParams],
  );
  return [query, setQuery];
}

/** Returns the URL parameters of a query; a list is a repeated parameter. */
function toParams<Query extends object>(query: Query, defaults: Query) {
  const names = Object.keys(query) as (keyof Query & string)[];
  return names.flatMap(name =>
    query[name] === defaults[name]
      ? []
      : [query[name]]
          .flat()
          .map((value): [string, string] => [
            name,
            value === true ? '' : String(value),
          ]),
  );
}

/** Returns the order in a URL, one of the columns with or without `-` before it. */
export function readSort<Column extends string>(
  params: URLSearchParams,
  columns: readonly Column[],
): Column | `-${Column}` | undefined {
  const sort = params.get('sort');
  return columns
    .flatMap(column => [column, `-${column}` as const])
    .find(one => one === sort);
}

/** Returns the page number in a URL, counted from 1. Defaults to 1. */
export function readPage(params: URLSearchParams): number {
  const page = params.get('page');
  return page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}
