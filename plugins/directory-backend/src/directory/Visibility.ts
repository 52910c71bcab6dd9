import type { UserField } from './schema';

/** What one caller may see of private profiles. */
export type Visibility =
  /** A trusted reader: private profiles hide nothing. */
  | { readonly kind: 'everything' }
  /** Everybody else: private profiles but one's own hide these fields. */
  | {
      readonly kind: 'public';
      readonly hidden: ReadonlySet<UserField>;
      /** The user name of the caller, whose own profile hides nothing. */
      readonly owner?: string;
    };
