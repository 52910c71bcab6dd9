import type { PageRequest } from '@directory-gateway/directory-core';
import { searchPageSizeOutOfRange } from '../../apiErrors';
import { rawInteger } from '../response/json';
import type { ParameterErrors } from '../request/ParameterErrors';
import { DEFAULT_PAGE_SIZE, MAX_SEARCH_PAGE_SIZE } from '../request/parsePage';

/** Integers that Python's `int()` accepts, which FASJSON uses. */
const INTEGER = /^\s*[+-]?\d+(?:_\d+)*\s*$/;

const LABELS = { page_size: 'Page size.', page_number: 'Page number.' };

/**
 * Parses `page_size` and `page_number` of a list as FASJSON does: without a
 * size, or with size 0, the list is not paginated and the result is
 * `undefined`. Negative numbers, for which FASJSON returns arbitrary pages,
 * are errors.
 */
export function parseFasjsonPage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest | undefined {
  const size = readInteger(query, 'page_size', errors);
  const number = readInteger(query, 'page_number', errors) ?? 1n;
  if (!query.has('page_size') || size === 0n) {
    return undefined;
  }
  if (size !== undefined && size < 0n) {
    addError(errors, 'page_size', 'Must be 0 or more.');
  }
  return {
    size: clamp(size ?? BigInt(DEFAULT_PAGE_SIZE)),
    number: pageNumber(number, errors),
  };
}

/** Like {@link parseFasjsonPage}, for a search, which is always paginated. */
export function parseFasjsonSearchPage(
  query: URLSearchParams,
  errors: ParameterErrors,
): PageRequest {
  const size =
    readInteger(query, 'page_size', errors) ?? BigInt(DEFAULT_PAGE_SIZE);
  const number = readInteger(query, 'page_number', errors) ?? 1n;
  if (size < 1n || size > BigInt(MAX_SEARCH_PAGE_SIZE)) {
    errors.reject(
      searchPageSizeOutOfRange(MAX_SEARCH_PAGE_SIZE, rawInteger(size)),
    );
  }
  return { size: Number(size), number: pageNumber(number, errors) };
}

/**
 * The exact value of an integer in Python's syntax; `undefined` when the text
 * is `null` or not an integer.
 */
export function parsePythonInteger(text: string | null): bigint | undefined {
  if (text === null || !INTEGER.test(text)) {
    return undefined;
  }
  const digits = BigInt(text.replace(/[\s_+-]/g, ''));
  return text.includes('-') ? -digits : digits;
}

function readInteger(
  query: URLSearchParams,
  name: keyof typeof LABELS,
  errors: ParameterErrors,
): bigint | undefined {
  const text = query.get(name);
  const value = parsePythonInteger(text);
  if (text !== null && value === undefined) {
    addError(
      errors,
      name,
      `invalid literal for int() with base 10: ${quoted(text)}`,
    );
  }
  return value;
}

function pageNumber(number: bigint, errors: ParameterErrors): number {
  if (number < 1n) {
    addError(errors, 'page_number', 'Must be 1 or more.');
  }
  return clamp(number);
}

/** Limits a number to safe integers, which exceed the size of any list. */
function clamp(value: bigint): number {
  return Number(
    value < Number.MAX_SAFE_INTEGER ? value : Number.MAX_SAFE_INTEGER,
  );
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return `${quote}${text}${quote}`;
}

function addError(
  errors: ParameterErrors,
  name: keyof typeof LABELS,
  message: string,
): void {
  errors.add(name, `${LABELS[name]} ${message}`);
}
