import type { Filter } from 'ldapts';
import { contains, equals, isPresent } from './filters';

/** What a value can be compared with. */
export type ValueTerm =
  | { readonly kind: 'present' }
  | { readonly kind: 'substring' | 'equals'; readonly text: string };

/** The filter of one term; `undefined` when no value can be its text. */
export function valueFilter(
  attribute: string,
  term: ValueTerm,
): Filter | undefined {
  switch (term.kind) {
    case 'present':
      return isPresent(attribute);
    case 'substring':
      return isText(term.text) ? contains(attribute, term.text) : undefined;
    default:
      return isText(term.text) ? equals(attribute, term.text) : undefined;
  }
}

/**
 * A value with NUL is nobody's. 389 Directory Server reads up to NUL only and
 * would find those whose value is what stands before it, or call it an error.
 */
function isText(text: string): boolean {
  return !text.includes('\0');
}
