import {
  isUserField,
  userFieldNames,
  userFields,
  type UserField,
} from '../../directory/schema';
import type { User } from '../../directory/records';
import type { RecordModel } from './fieldMask';
import { presentRecord } from './presentRecord';
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

/**
 * The keys of a member or sponsor: name and URI, or with a mask a whole user.
 * These answers leave locked accounts out, so that they have no `locked`.
 */
export const memberModel: RecordModel = {
  keys: userModel.keys.filter(key => key !== 'locked'),
  lists: userModel.lists,
  defaults: ['username', 'uri'],
};

/** Which fields of the directory the keys of an answer need. */
export function userFieldsFor(keys: readonly string[]): ReadonlySet<UserField> {
  return new Set(keys.filter(isUserField));
}

/** A user as the API shows it, with the given keys in their order. */
export function presentUser(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  return presentRecord(user, {
    keys,
    fields: userFields,
    uri: uris.user(user.username),
    // Nobody ever locked the account where the attribute is missing.
    besides: { locked: user.locked ?? false },
  });
}
