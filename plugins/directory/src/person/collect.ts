import {
  type FetchPage,
  paginate,
} from '@directory-gateway/backstage-plugin-directory-common';

/** The most that a list answers at once, so that most lists take one call. */
export const LARGEST_PAGE = 1000;

/** Reads all pages of a list about one person. */
export async function collect<Item>(
  fetchPage: FetchPage<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of paginate(fetchPage, { signal })) {
    items.push(item);
  }
  return items;
}
