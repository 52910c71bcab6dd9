import {
  isUserField,
  userFieldNames,
  userFields,
  type FieldSyntax,
  type UserField,
} from '../../directory/schema';
import type { User } from '../../directory/User';
import type { RecordModel } from '../request/fieldMask';
import type { ResourceUris } from './ResourceUris';

/** The keys of a user's record, in the contract's order. */
export const userModel: RecordModel = {
  keys: [...userFieldNames, 'uri'],
  lists: new Set(
    userFieldNames.filter(name =>
      ['strings', 'certificates'].includes(userFields[name].syntax),
    ),
  ),
};

/** Which fields of the directory the keys of an answer need. */
export function fieldsFor(keys: readonly string[]): ReadonlySet<UserField> {
  return new Set(keys.filter(isUserField));
}

/** A user as the API shows it, with the given keys in their order. */
export function presentUser(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  return Object.fromEntries(
    keys.map(key => [
      key,
      isUserField(key) ? presentField(user, key) : uris.user(user.username),
    ]),
  );
}

function presentField(user: User, field: UserField): unknown {
  const value = user[field];
  if (value === undefined) {
    // Nobody ever locked the account; every other missing value is null.
    return field === 'locked' ? false : null;
  }
  const syntax: FieldSyntax = userFields[field].syntax;
  switch (syntax) {
    case 'timestamp':
      // Without a zone, to the second: `2020-04-23T10:16:35`.
      return (value as Date).toISOString().slice(0, 19);
    case 'certificates':
      return (value as readonly Buffer[]).map(der => der.toString('base64'));
    default:
      return value;
  }
}
