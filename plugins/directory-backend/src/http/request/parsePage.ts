import type { PageRequest } from '@directory-gateway/directory-core';
import { searchPageSizeOutOfRange } from '../../apiErrors';
import type { ParameterErrors } from './ParameterErrors';

/** Results per page when the query has no `page_size` (contract, section 8). */
export const DEFAULT_PAGE_SIZE = 40;

/** The parameters that select a page. */
export const PAGE_PARAMETERS = ['page_size', 'page_number'] as const;

/** A whole list as one page. */
export const WHOLE_LIST: PageRequest = {
  number: 1,
  size: Number.MAX_SAFE_INTEGER,
};

/** The largest `page_size` of a search. */
export const MAX_SEARCH_PAGE_SIZE = 40;

const PAGE_SIZE = {
  label: 'Page size',
  min: 1,
  fallback: DEFAULT_PAGE_SIZE,
};
const LIST_SIZE = { ...PAGE_SIZE, max: 1000 };
const SEARCH_SIZE = { ...PAGE_SIZE, max: MAX_SEARCH_PAGE_SIZE };
/** Limited so that the index of the first result is a safe integer. */
const NUMBER = {
  label: 'Page number',
  min: 1,
  max: Math.floor(Number.MAX_SAFE_INTEGER / LIST_SIZE.max),
  fallback: 1,
};

/**
 * Parses `page_size` (1 to 1000, default 40) and `page_number` (default 1) of
 * a list: plain decimal numbers. The first value of a repeated parameter is
 * used.
 */
export function parsePage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest {
  return {
    size: readNumber(query, 'page_size', LIST_SIZE, errors),
    number: readNumber(query, 'page_number', NUMBER, errors),
  };
}

/**
 * Parses `page_size` and `page_number` of a search like {@link parsePage}, but
 * rejects a size outside 1 to 40 with a separate error.
 */
export function parseSearchPage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest {
  const number = readNumber(query, 'page_number', NUMBER, errors);
  const text = query.get('page_size');
  const size = text !== null && /^-?\d+$/.test(text) ? Number(text) : undefined;
  if (size !== undefined && (size < 1 || size > MAX_SEARCH_PAGE_SIZE)) {
    errors.reject(searchPageSizeOutOfRange(MAX_SEARCH_PAGE_SIZE, size));
    return { size: DEFAULT_PAGE_SIZE, number };
  }
  return { size: readNumber(query, 'page_size', SEARCH_SIZE, errors), number };
}

/** Reads a plain decimal number; the fallback if it is missing or invalid. */
export function readNumber(
  query: URLSearchParams,
  name: string,
  limits: {
    /** Name of the parameter in messages. */
    readonly label: string;
    readonly min: number;
    readonly max: number;
    readonly fallback: number;
  },
  errors: ParameterErrors,
): number {
  const text = query.get(name);
  const number = /^\d+$/.test(text ?? '') ? Number(text) : NaN;
  if (number >= limits.min && number <= limits.max) {
    return number;
  }
  if (text !== null) {
    errors.add(
      name,
      `${limits.label}. Must be a whole number from ${limits.min} to ${limits.max}.`,
    );
  }
  return limits.fallback;
}
