import type { ServedRecords } from './ServedRecords';

/** What a value is compared with. */
type ValueTerm<F> =
  | { readonly kind: 'present'; readonly field: F }
  | {
      readonly kind: 'substring' | 'equals';
      readonly field: F;
      readonly text: string;
    };

/** The ranks of the entries to which a term on one field applies. */
export function findValues<T extends object>(
  served: Pick<
    ServedRecords<T>,
    'ranksWith' | 'ranksContaining' | 'ranksEqualTo'
  >,
  term: ValueTerm<keyof T>,
): Uint32Array {
  const { field } = term;
  if (term.kind === 'present') {
    return served.ranksWith(field);
  }
  // A value with NUL is nobody's: the directory reads up to it only.
  if (term.text.includes('\0')) {
    return new Uint32Array();
  }
  return term.kind === 'substring'
    ? served.ranksContaining(field, term.text)
    : served.ranksEqualTo(field, term.text);
}
