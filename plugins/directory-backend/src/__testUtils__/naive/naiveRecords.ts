import type { Group } from '../../directory/records';
import type { GroupField, UserField } from '../../directory/schema';
import type { User } from '../../directory/records';
import { GROUP_ATTRIBUTES, LISTS, USER_ATTRIBUTES } from './attributes';
import type { DumpedEntry } from './DumpedEntry';

/** A user's record with these fields, read off the dump. */
export function naiveUser(
  entry: DumpedEntry,
  fields: Iterable<UserField>,
  attributes: Partial<Record<UserField, string>> = USER_ATTRIBUTES,
): User {
  const asked = [...fields].map(field => [
    field,
    valueOf(entry, field, attributes[field]),
  ]);
  return { ...Object.fromEntries(asked), username: entry.text('uid')! };
}

/** A group's record with these fields, read off the dump. */
export function naiveGroup(
  entry: DumpedEntry,
  fields: Iterable<GroupField>,
): Group {
  const asked = [...fields].map(field => [
    field,
    valueOf(entry, field, GROUP_ATTRIBUTES[field]),
  ]);
  return { ...Object.fromEntries(asked), groupname: entry.text('cn')! };
}

function valueOf(
  entry: DumpedEntry,
  field: string,
  attribute: string | undefined,
): unknown {
  const text = attribute && entry.text(attribute);
  if (!attribute || text === undefined) {
    return undefined;
  }
  if (LISTS.has(field)) {
    return entry.texts(attribute);
  }
  switch (field) {
    case 'certificates':
      return entry.octets(attribute);
    case 'is_private':
    case 'locked':
      return text === 'TRUE';
    case 'creation':
      return new Date(naiveTime(text));
    default:
      return text;
  }
}

/** `20200131235959Z` in milliseconds. */
export function naiveTime(text: string): number {
  return Date.parse(
    text.replace(
      /^(....)(..)(..)(..)(..)(..)Z$/,
      (_, year, month, day, hour, minute, second) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}Z`,
    ),
  );
}
