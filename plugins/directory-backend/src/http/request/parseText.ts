import {
  type ByTier,
  closestFirst,
  type FieldCondition,
  type Predicate,
  similarTo,
  type TextFields,
} from '@directory-gateway/directory-core';
import type { ParameterErrors } from './ParameterErrors';

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
  return text === undefined
    ? undefined
    : {
        kind: 'byTier',
        tiers:
          similar === 'true'
            ? [similarTo(text, fields.words)]
            : closestFirst(text, fields),
      };
}
