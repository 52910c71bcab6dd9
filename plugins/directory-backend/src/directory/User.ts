import { FieldSyntax, UserField, userFields } from './schema';

interface ValueOfSyntax extends Record<FieldSyntax, unknown> {
  string: string;
  strings: readonly string[];
  boolean: boolean;
  timestamp: Date;
  certificates: readonly Buffer[];
}

/**
 * A user as the directory holds it. A field that was not asked for, that has
 * no value or that is hidden from the caller is `undefined`.
 */
export type User = {
  readonly [F in UserField]?: ValueOfSyntax[(typeof userFields)[F]['syntax']];
} & {
  /** `uid`, in the directory's spelling. */
  readonly username: string;
};
