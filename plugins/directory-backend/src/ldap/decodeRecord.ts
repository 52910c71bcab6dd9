import type { Entry } from 'ldapts';
import type { FieldDefinition, FieldSyntax } from '../directory/schema';
import { booleanOf, buffersOf, textOf, textsOf, timeOf } from './entryValues';

type Fields<F extends string> = Readonly<Record<F, FieldDefinition>>;

const readers: Record<
  FieldSyntax,
  (entry: Entry, attribute: string) => unknown
> = {
  string: textOf,
  strings: (entry, attribute) => nonEmpty(textsOf(entry, attribute)),
  boolean: booleanOf,
  timestamp: timeOf,
  certificates: (entry, attribute) => nonEmpty(buffersOf(entry, attribute)),
};

/** The attributes that a search must ask for to answer these fields. */
export function attributesOf<F extends string>(
  table: Fields<F>,
  fields: Iterable<F>,
): string[] {
  const attributes = [...fields].map(field => table[field].attribute);
  return [...new Set(attributes.filter(name => name !== undefined))];
}

/** An entry as a record: of these fields it has the values, and no others'. */
export function decodeRecord<R extends object, F extends string = string>(
  table: Fields<F>,
  entry: Entry,
  {
    fields,
    empty,
  }: {
    readonly fields: Iterable<F>;
    /** What the record begins as; see `emptyUser`. */
    readonly empty: Record<F, undefined>;
  },
): R {
  const record: Record<F, unknown> = empty;
  for (const field of fields) {
    const { attribute, syntax } = table[field];
    if (attribute) {
      record[field] = readers[syntax](entry, attribute);
    }
  }
  return record as R;
}

function nonEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length > 0 ? values : undefined;
}
