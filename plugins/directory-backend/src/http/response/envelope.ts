import type { Page, PageRequest } from '../../directory/Page';

/** One page of a list as the contract wraps it (section 2.1). */
export interface PaginatedEnvelope {
  readonly result: readonly unknown[];
  readonly page: number;
  readonly page_size: number;
  readonly total_results: number;
}

/** A page with each item presented. */
export function mapPage<T, R>(page: Page<T>, present: (item: T) => R): Page<R> {
  return { ...page, items: page.items.map(present) };
}

/** Wraps one page of a list, each item presented. */
export function envelopePage<T>(
  page: Page<T>,
  request: PageRequest,
  present: (item: T) => unknown,
): PaginatedEnvelope {
  return {
    result: page.items.map(present),
    page: request.number,
    page_size: request.size,
    total_results: page.total,
  };
}
