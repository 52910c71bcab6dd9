/** Which part of a list is asked for. */
export interface PageRequest {
  /** Counted from 1. */
  readonly number: number;
  /** Results a page, at least 1. */
  readonly size: number;
}

/** One page of a list; empty past the end, with the right total. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Results on all pages together. */
  readonly total: number;
}

/** The part of an ordered list that a page shows. */
export function slicePage<T>(
  items: readonly T[],
  page: PageRequest,
): readonly T[] {
  const start = (page.number - 1) * page.size;
  return items.slice(start, start + page.size);
}
