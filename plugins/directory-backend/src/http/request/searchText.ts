import { InvalidRequestError } from '../response/apiErrors';

const MIN_SUBSTRING = 3;

/**
 * The first value of a search parameter as a directory compares: edges
 * trimmed, runs of space one (RFC 4518 §2.6.1); `undefined` when it is blank
 * or not there. Spaces beyond ASCII stay what they are: 389 Directory Server
 * does not take the ideographic space of a Japanese name for a Latin one.
 */
export function readSearchText(
  query: URLSearchParams,
  parameter: string,
): string | undefined {
  return foldSearchText(query.get(parameter) ?? '') || undefined;
}

/** As {@link readSearchText}, of one value. */
export function foldSearchText(text: string): string {
  return text.trim().replace(/[\t-\r ]+/g, ' ');
}

/**
 * Lets a text pass that is long enough for a substring: 3 code points.
 *
 * @throws InvalidRequestError that names the term.
 */
export function requireSubstring(term: string, text: string): string {
  if ([...text].length < MIN_SUBSTRING) {
    throw new InvalidRequestError({
      message: `Search term must be at least ${MIN_SUBSTRING} characters long.`,
      search_term: term,
      search_value: text,
    });
  }
  return text;
}
