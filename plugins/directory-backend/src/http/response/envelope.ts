import type { Page, PageRequest } from '../../directory/Page';

/** One page of a list as the contract wraps it (section 2.1). */
export interface PaginatedEnvelope {
  readonly result: readonly unknown[];
  readonly page: number;
  readonly page_size: number;
  readonly total_results: number;
}

/** A result about an entry that exists; throws the error when it is missing. */
export function found<T>(result: T | undefined, notFound: () => Error): T {
  if (result === undefined) {
    throw notFound();
  }
  return result;
}

/** A page with each item presented. */
export function mapPage<T, R>(page: Page<T>, present: (item: T) => R): Page<R> {
  return { ...page, items: page.items.map(present) };
}

/** Wraps one page of a list, whose items are presented. */
export function envelopePage(
  page: Page<unknown>,
  request: PageRequest,
): PaginatedEnvelope {
  return {
    result: page.items,
    page: request.number,
    page_size: request.size,
    total_results: page.total,
  };
}
