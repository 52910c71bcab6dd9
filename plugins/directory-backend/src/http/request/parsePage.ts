import type { PageRequest } from '../../directory/Page';
import { InvalidRequestError } from '../response/apiErrors';

/** So large that a page's first index is still an exact number. */
const MAX_PAGE_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** Results a page where the query does not say (contract, section 8). */
export const DEFAULT_PAGE_SIZE = 40;

/** All of a list as one page. */
export const WHOLE_LIST: PageRequest = {
  number: 1,
  size: Number.MAX_SAFE_INTEGER,
};

/** The largest `page_size` of a list; a search has a bound of its own. */
export const MAX_LIST_PAGE_SIZE = 1000;

/** The largest `page_size` of a search. */
export const MAX_SEARCH_PAGE_SIZE = 40;

/**
 * Reads `page_size` and `page_number` of a list. The first value of a repeated
 * parameter counts.
 *
 * @throws InvalidRequestError that names each parameter that is out of range
 *   or no plain decimal number.
 */
export function parsePage(
  query: URLSearchParams,
  bounds: { readonly maxSize: number },
): PageRequest {
  const errors: Record<string, string> = {};
  const read = (name: string, label: string, max: number, fallback: number) => {
    const text = query.get(name);
    if (text === null) {
      return fallback;
    }
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (number >= 1 && number <= max) {
      return number;
    }
    errors[name] = `${label}. Must be a whole number from 1 to ${max}.`;
    return fallback;
  };
  const page = {
    size: read('page_size', 'Page size', bounds.maxSize, DEFAULT_PAGE_SIZE),
    number: read('page_number', 'Page number', MAX_PAGE_NUMBER, 1),
  };
  if (Object.keys(errors).length > 0) {
    throw new InvalidRequestError({
      message: 'Input payload validation failed',
      errors,
    });
  }
  return page;
}

/**
 * As {@link parsePage}, of a search, which has bounds and an error of its own.
 *
 * @throws InvalidRequestError
 */
export function parseSearchPage(query: URLSearchParams): PageRequest {
  const text = query.get('page_size');
  if (text !== null && /^-?\d+$/.test(text)) {
    const size = Number(text);
    if (size < 1 || size > MAX_SEARCH_PAGE_SIZE) {
      throw new InvalidRequestError({
        message: `Page size must be between 1 and ${MAX_SEARCH_PAGE_SIZE} when searching.`,
        page_size: size,
      });
    }
  }
  return parsePage(query, { maxSize: MAX_SEARCH_PAGE_SIZE });
}
