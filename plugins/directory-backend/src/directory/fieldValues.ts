import type { FieldDefinition, FieldSyntax } from './schema';

interface ValueOfSyntax extends Record<FieldSyntax, unknown> {
  string: string;
  strings: readonly string[];
  boolean: boolean;
  timestamp: Date;
  certificates: readonly Buffer[];
}

/**
 * A record with the fields of a table. A field that was not asked for, that
 * has no value or that is hidden from the caller is `undefined`.
 */
export type RecordOf<Fields extends Record<string, FieldDefinition>> = {
  readonly [F in keyof Fields]?: ValueOfSyntax[Fields[F]['syntax']];
};
