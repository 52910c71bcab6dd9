import type { UserField } from './schema';

/** A condition on one field of a user. */
export type UserFieldTerm =
  /** The field has any value. */
  | { readonly kind: 'present'; readonly field: UserField }
  /** One of the field's values contains the text, as the directory compares. */
  | {
      readonly kind: 'substring';
      readonly field: UserField;
      readonly text: string;
    }
  /** One of the field's values is the text, as the directory compares. */
  | {
      readonly kind: 'equals';
      readonly field: UserField;
      readonly text: string;
    }
  /** The field is strictly before the time, compared to the second. */
  | {
      readonly kind: 'before';
      readonly field: UserField;
      readonly time: Date;
    };

/**
 * One condition of a user search; several conditions apply together. Texts
 * have no spaces at their ends.
 */
export type UserSearchTerm =
  | UserFieldTerm
  /** At least one of these applies. */
  | { readonly kind: 'anyOf'; readonly terms: readonly UserFieldTerm[] }
  /** The user is in the served group of this name, nested groups included. */
  | { readonly kind: 'memberOf'; readonly groupname: string }
  /** The user is in at least one served group. */
  | { readonly kind: 'memberOfAny' };
