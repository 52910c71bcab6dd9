/** A part of a list. */
export interface PageRequest {
  /** The first page is 1. */
  readonly number: number;
  /** Results per page, at least 1. */
  readonly size: number;
}

/** One page of a list; past the end it is empty. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of results on all pages. */
  readonly total: number;
}

/** Returns the items of a list that are on a page. */
export function slicePage<
  Items extends { slice(start: number, end: number): Items },
>(items: Items, { number, size }: PageRequest): Items {
  return items.slice((number - 1) * size, number * size);
}
