import type { Entry } from 'ldapts';
import type {
  DirectorySchema,
  FieldDefinition,
  FieldSyntax,
  UserField,
} from '../directory/schema';
import type { User } from '../directory/User';
import {
  booleanOf,
  buffersOf,
  requiredTextOf,
  textOf,
  textsOf,
  timeOf,
} from './entryValues';

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
export function attributesOf(
  schema: DirectorySchema,
  fields: Iterable<UserField>,
): string[] {
  const attributes = ['username' as const, ...fields].map(
    field => schema.users[field].attribute,
  );
  return [...new Set(attributes.filter(name => name !== undefined))];
}

/** An entry as a user's record, with the fields that were asked for. */
export function decodeUser(
  schema: DirectorySchema,
  entry: Entry,
  fields: Iterable<UserField>,
): User {
  const record: Partial<Record<UserField, unknown>> = {};
  for (const field of fields) {
    const { attribute, syntax }: FieldDefinition = schema.users[field];
    record[field] = attribute && readers[syntax](entry, attribute);
  }
  return {
    ...(record as Partial<User>),
    username: requiredTextOf(entry, schema.users.username.attribute!),
  };
}

function nonEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length > 0 ? values : undefined;
}
