import type { PageInfo } from './records';

/**
 * Fetches a page. Must pass `page_number` in the query and `signal` to the
 * call.
 *
 * @public
 */
export type FetchPage<Item> = (request: {
  page_number: number;
  signal: AbortSignal | undefined;
}) => Promise<{ data: PageInfo & { result: Item[] } }>;

/**
 * Iterates over the items of all pages of a paginated operation, in order. A
 * page is fetched when its first item is read. Throws the errors of
 * `fetchPage`, and the signal's reason when it is aborted.
 *
 * Changes in the directory can move items between pages: an item may then be
 * returned twice or not at all.
 *
 * @example
 * ```ts
 * const members = paginate(({ page_number, signal }) =>
 *   client.get('/groups/{groupname}/members/', {
 *     params: { path: { groupname }, query: { page_number, page_size: 1000 } },
 *     signal,
 *   }),
 * );
 * for await (const { username } of members) { … }
 * ```
 *
 * @public
 */
export async function* paginate<Item>(
  fetchPage: FetchPage<Item>,
  options: { signal?: AbortSignal } = {},
): AsyncGenerator<Item, void, undefined> {
  const { signal } = options;
  let page_number = 0;
  let isLast = false;
  while (!isLast) {
    signal?.throwIfAborted();
    page_number += 1;
    const { data } = await fetchPage({ page_number, signal });
    for (const item of data.result) {
      signal?.throwIfAborted();
      yield item;
    }
    isLast =
      data.result.length === 0 ||
      page_number * data.page_size >= data.total_results;
  }
}
