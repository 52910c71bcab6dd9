import type { PageRequest } from '../../directory/Page';
import { InvalidRequestError } from '../response/apiErrors';
import { rawInteger } from '../response/rawInteger';
import { DEFAULT_PAGE_SIZE, MAX_SEARCH_PAGE_SIZE } from './parsePage';

/** What Python's `int()` reads, which the reference reads its numbers with. */
const INTEGER = /^\s*[+-]?\d+(?:_\d+)*\s*$/;

const LABELS = { page_size: 'Page size.', page_number: 'Page number.' };

/**
 * Reads `page_size` and `page_number` of a list as the reference does: without
 * a size, or with size 0, the list is not paginated, and `undefined`.
 *
 * @throws InvalidRequestError for what is no number, and for numbers that are
 *   no page's, which the reference answers with nonsense.
 */
export function parseFasjsonPage(
  query: URLSearchParams,
): PageRequest | undefined {
  const size = readFasjsonInteger(query, 'page_size');
  const number = readFasjsonInteger(query, 'page_number') ?? 1n;
  if (size === undefined || size === 0n) {
    return undefined;
  }
  if (size < 0n) {
    throw malformed('page_size', 'Must be 0 or more.');
  }
  return { size: clamp(size), number: pageNumber(number) };
}

/** As {@link parseFasjsonPage}, of a search, which is always paginated. */
export function parseFasjsonSearchPage(query: URLSearchParams): PageRequest {
  const size =
    readFasjsonInteger(query, 'page_size') ?? BigInt(DEFAULT_PAGE_SIZE);
  const number = readFasjsonInteger(query, 'page_number') ?? 1n;
  if (size < 1n || size > BigInt(MAX_SEARCH_PAGE_SIZE)) {
    throw new InvalidRequestError({
      message: `Page size must be between 1 and ${MAX_SEARCH_PAGE_SIZE} when searching.`,
      page_size: rawInteger(size),
    });
  }
  return { size: Number(size), number: pageNumber(number) };
}

/**
 * A number of the query to the last digit, `undefined` when it is not there.
 *
 * @throws InvalidRequestError in the reference's words.
 */
export function readFasjsonInteger(
  query: URLSearchParams,
  name: keyof typeof LABELS,
): bigint | undefined {
  const text = query.get(name);
  if (text === null) {
    return undefined;
  }
  if (!INTEGER.test(text)) {
    throw malformed(
      name,
      `invalid literal for int() with base 10: ${quoted(text)}`,
    );
  }
  const digits = text.replace(/[\s_+-]/g, '');
  return text.includes('-') ? -BigInt(digits) : BigInt(digits);
}

function pageNumber(number: bigint): number {
  if (number < 1n) {
    throw malformed('page_number', 'Must be 1 or more.');
  }
  return clamp(number);
}

/** Past any list, and still a number. */
function clamp(value: bigint): number {
  return Number(
    value < Number.MAX_SAFE_INTEGER ? value : Number.MAX_SAFE_INTEGER,
  );
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return `${quote}${text}${quote}`;
}

function malformed(
  name: keyof typeof LABELS,
  what: string,
): InvalidRequestError {
  return new InvalidRequestError({
    message: 'Input payload validation failed',
    errors: { [name]: `${LABELS[name]} ${what}` },
  });
}
