import type { GroupField } from './schema';

/** A condition on one field of a group. */
export type GroupFieldTerm =
  /** The field has any value. */
  | { readonly kind: 'present'; readonly field: GroupField }
  /** One of the field's values contains the text, as the directory compares. */
  | {
      readonly kind: 'substring';
      readonly field: GroupField;
      readonly text: string;
    }
  /** One of the field's values is the text, as the directory compares. */
  | {
      readonly kind: 'equals';
      readonly field: GroupField;
      readonly text: string;
    };

/**
 * One condition of a group search; several conditions apply together. Texts
 * have no spaces at their ends.
 */
export type GroupSearchTerm =
  | GroupFieldTerm
  /** At least one of these applies. */
  | { readonly kind: 'anyOf'; readonly terms: readonly GroupFieldTerm[] };
