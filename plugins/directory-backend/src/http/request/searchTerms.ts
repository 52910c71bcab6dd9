import {
  type ByTier,
  closestFirst,
  type FieldCondition,
  type Predicate,
  similarTo,
  type TextFields,
} from '@directory-gateway/directory-core';
import { InvalidRequestError } from '../../apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { PAGE_PARAMETERS } from './parsePage';

/** Minimum length of a substring in code points. */
const MIN_SUBSTRING = 3;

/**
 * The parameters of a search that are conditions, each with a function that
 * returns its condition and adds an error if its text is malformed.
 */
export type SearchTerms<Condition> = Readonly<
  Record<string, (text: string, errors: ParameterErrors) => Condition>
>;

/**
 * Parameters that match as substrings, or exactly with `__exact` appended.
 *
 * @param fields - the field of each parameter
 * @param options - `hasPresence`: whether `*` matches any value of the field.
 *   Default: yes
 */
export function substringTerms<Field>(
  fields: Readonly<Record<string, Field>>,
  { hasPresence = true } = {},
): SearchTerms<FieldCondition<Field>> {
  const terms = Object.entries(fields).map(([name, field]) => [
    name,
    (text: string, errors: ParameterErrors) => {
      if (text === '*' && hasPresence) {
        return { kind: 'present', field };
      }
      if ([...text].length < MIN_SUBSTRING) {
        errors.reject(
          new InvalidRequestError({
            message: `Search term must be at least ${MIN_SUBSTRING} characters long.`,
            search_term: name,
            search_value: text,
          }),
        );
      }
      return { kind: 'substring', field, text };
    },
  ]);
  return { ...Object.fromEntries(terms), ...exactTerms(fields, '__exact') };
}

/** Parameters that match exactly; `*` matches any value of the field. */
export function exactTerms<Field>(
  fields: Readonly<Record<string, Field>>,
  /** Appended to the names of the parameters. */
  suffix = '',
): SearchTerms<FieldCondition<Field>> {
  const terms = Object.entries(fields).map(([name, field]) => [
    `${name}${suffix}`,
    (text: string) =>
      text === '*'
        ? { kind: 'present', field }
        : { kind: 'equals', field, text },
  ]);
  return Object.fromEntries(terms);
}

/**
 * Parses the conditions of a search in the order of the terms. A blank value is
 * not a condition.
 */
export function parseTerms<Condition>(
  query: URLSearchParams,
  terms: SearchTerms<Condition>,
  errors: ParameterErrors,
): Condition[] {
  return Object.entries(terms).flatMap(([name, toCondition]) => {
    const text = readSearchText(query, name);
    return text === undefined ? [] : [toCondition(text, errors)];
  });
}

/**
 * Adds an error for each parameter of a search that is neither a term, nor for
 * the page, the text or the others.
 */
export function rejectUnknown(
  query: URLSearchParams,
  terms: SearchTerms<unknown>,
  others: readonly string[],
  errors: ParameterErrors,
): void {
  const known = [...PAGE_PARAMETERS, 'q', 'similar', ...others];
  for (const name of query.keys()) {
    if (!Object.hasOwn(terms, name) && !known.includes(name)) {
      errors.add(name, 'Unknown search parameter.');
    }
  }
}

/**
 * Returns the first value of a search parameter as a directory compares it:
 * trimmed, with white space folded (RFC 4518 §2.6.1); `undefined` when it is
 * blank or missing. Only ASCII white space is folded: 389 Directory Server does
 * not treat the ideographic space of a Japanese name as a space.
 */
export function readSearchText(
  query: URLSearchParams,
  parameter: string,
): string | undefined {
  return foldSearchText(query.get(parameter) ?? '') || undefined;
}

/** Like {@link readSearchText}, for one value. */
export function foldSearchText(text: string): string {
  return text.trim().replace(/[\t-\r ]+/g, ' ');
}

/**
 * Parses `q`, a text, and `similar`, which is true if the text may be
 * misspelled. Both are extensions of the contract. Texts have no minimum
 * length.
 *
 * @returns the order of the results; `undefined` without a text
 */
export function parseText<Field>(
  query: URLSearchParams,
  errors: ParameterErrors,
  fields: TextFields<Field>,
): ByTier<Predicate<FieldCondition<Field>>> | undefined {
  const text = readSearchText(query, 'q');
  const similar = query.get('similar') ?? 'false';
  if (similar !== 'true' && similar !== 'false') {
    errors.add(
      'similar',
      'Whether the text may be misspelled. Must be true or false.',
    );
  }
  if (text === undefined) {
    return undefined;
  }
  const tiers =
    similar === 'true'
      ? [similarTo(text, [...fields.words, ...(fields.moreWords ?? [])])]
      : closestFirst(text, fields);
  return { kind: 'byTier', tiers };
}

/** A sort order by one key of the records. */
export interface Sort<Key extends string> {
  readonly key: Key;
  readonly descending: boolean;
}

/** Parses `sort`: a key, prefixed with `-` for descending order. */
export function parseSort<Key extends string>(
  query: URLSearchParams,
  keys: readonly Key[],
  errors: ParameterErrors,
): Sort<Key> | undefined {
  const text = query.get('sort') ?? '';
  const key = keys.find(one => one === text.replace(/^-/, ''));
  if (text && !key) {
    errors.add('sort', `Order. Must be one of ${keys.join(', ')}.`);
  }
  return key && { key, descending: text.startsWith('-') };
}
