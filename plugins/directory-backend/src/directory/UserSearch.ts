import type { UserField } from './schema';

/**
 * One condition of a user search; several conditions apply together. Texts
 * have no spaces at their ends.
 */
export type UserSearchTerm =
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
    }
  /** The user is in the served group of this name, nested groups included. */
  | { readonly kind: 'memberOf'; readonly groupname: string }
  /** The user is in at least one served group. */
  | { readonly kind: 'memberOfAny' };
