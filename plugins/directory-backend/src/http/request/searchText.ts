import { InvalidRequestError } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';

const MIN_SUBSTRING = 3;

/**
 * The first value of a search parameter as a directory compares it: trimmed,
 * each run of white space folded into one space (RFC 4518 §2.6.1); `undefined`
 * when it is blank or missing. Only ASCII white space is folded: 389 Directory
 * Server does not treat the ideographic space of a Japanese name as a space.
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

/** Rejects a substring term of fewer than 3 code points; returns its text. */
export function requireSubstring(
  term: string,
  text: string,
  errors: ParameterErrors,
): string {
  if ([...text].length < MIN_SUBSTRING) {
    errors.reject(
      new InvalidRequestError({
        message: `Search term must be at least ${MIN_SUBSTRING} characters long.`,
        search_term: term,
        search_value: text,
      }),
    );
  }
  return text;
}

/** Adds an error for each parameter of a search that is not known. */
export function rejectUnknown(
  query: URLSearchParams,
  known: ReadonlySet<string>,
  errors: ParameterErrors,
): void {
  for (const name of query.keys()) {
    if (!known.has(name)) {
      errors.add(name, 'Unknown search parameter.');
    }
  }
}
