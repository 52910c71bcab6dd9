import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { useCallback, useMemo } from 'react';

/**
 * Changes the query. `replace` replaces the current entry of the browser
 * history.
 */
export type SetQuery<Query> = (
  change: Partial<Query>,
  options?: { replace?: boolean },
) => void;

/**
 * Returns the query in the URL and a function that changes it. Each property of
 * the query is a URL parameter of the same name; default values are omitted. A
 * change resets the page to 1 unless it sets the page.
 *
 * @param read - must be the same function on every render
 */
export function useUrlQuery<Query extends { page: number }>(
  read: (params: URLSearchParams) => Query,
): [Query, SetQuery<Query>] {
  const [params, setParams] = useAppSearchParams();
  const query = useMemo(() => read(params), [read, params]);

  const setQuery = useCallback<SetQuery<Query>>(
    (change, options) =>
      setParams(
        previous => {
          const next = { ...read(previous), page: 1, ...change };
          return toParams(next, read(new URLSearchParams()));
        },
        { replace: options?.replace },
      ),
    [read, setParams],
  );
  return [query, setQuery];
}

/**
 * Returns the URL parameters of a query. A list becomes a repeated parameter.
 */
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

/**
 * Returns the sort order in the URL: one of the columns, with the prefix `-`
 * for descending order.
 */
export function readSort<Column extends string>(
  params: URLSearchParams,
  columns: readonly Column[],
): Column | `-${Column}` | undefined {
  const sort = params.get('sort');
  return columns
    .flatMap(column => [column, `-${column}` as const])
    .find(one => one === sort);
}

/** Returns the page number in the URL. Defaults to 1, the first page. */
export function readPage(params: URLSearchParams): number {
  const page = params.get('page');
  return page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}
