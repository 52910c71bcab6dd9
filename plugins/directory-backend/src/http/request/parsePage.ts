import type { PageRequest } from '../../directory/Page';
import { searchPageSizeOutOfRange } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';

/** Largest `page_number`: the index of the first result stays a safe integer. */
const MAX_PAGE_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** Results per page when the query has no `page_size` (contract, section 8). */
export const DEFAULT_PAGE_SIZE = 40;

/** The parameters that select a page. */
export const PAGE_PARAMETERS = ['page_size', 'page_number'] as const;

/** A whole list as one page. */
export const WHOLE_LIST: PageRequest = {
  number: 1,
  size: Number.MAX_SAFE_INTEGER,
};

/** The largest `page_size` of a list. */
const MAX_LIST_PAGE_SIZE = 1000;

/** The largest `page_size` of a search. */
export const MAX_SEARCH_PAGE_SIZE = 40;

/**
 * Parses `page_size` (1 to 1000, default 40) and `page_number` (default 1) of
 * a list: plain decimal numbers. The first value of a repeated parameter
 * counts.
 */
export function parsePage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest {
  return {
    size: parsePageSize(query, MAX_LIST_PAGE_SIZE, errors),
    number: parsePageNumber(query, errors),
  };
}

/**
 * Parses `page_size` and `page_number` of a search, as {@link parsePage}. A
 * number outside 1 to 40 is rejected with its own error.
 */
export function parseSearchPage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest {
  const number = parsePageNumber(query, errors);
  const text = query.get('page_size');
  const size = text !== null && /^-?\d+$/.test(text) ? Number(text) : undefined;
  if (size !== undefined && (size < 1 || size > MAX_SEARCH_PAGE_SIZE)) {
    errors.reject(searchPageSizeOutOfRange(MAX_SEARCH_PAGE_SIZE, size));
    return { size: DEFAULT_PAGE_SIZE, number };
  }
  return { size: parsePageSize(query, MAX_SEARCH_PAGE_SIZE, errors), number };
}

function parsePageSize(
  query: URLSearchParams,
  max: number,
  errors: ParameterErrors,
): number {
  return (
    parseNumber(query.get('page_size'), max, message =>
      errors.add('page_size', `Page size. ${message}`),
    ) ?? DEFAULT_PAGE_SIZE
  );
}

function parsePageNumber(
  query: URLSearchParams,
  errors: ParameterErrors,
): number {
  return (
    parseNumber(query.get('page_number'), MAX_PAGE_NUMBER, message =>
      errors.add('page_number', `Page number. ${message}`),
    ) ?? 1
  );
}

function parseNumber(
  text: string | null,
  max: number,
  onError: (message: string) => void,
): number | undefined {
  if (text === null) {
    return undefined;
  }
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  if (number >= 1 && number <= max) {
    return number;
  }
  onError(`Must be a whole number from 1 to ${max}.`);
  return undefined;
}
