import type { Group } from '../../directory/Group';
import {
  groupFieldNames,
  groupFields,
  isGroupField,
  type GroupField,
} from '../../directory/schema';
import type { RecordModel } from '../request/fieldMask';
import { presentRecord } from './presentRecord';
import type { ResourceUris } from './ResourceUris';

/** The keys of a group's record, in the contract's order. */
export const groupModel: RecordModel = {
  keys: [...groupFieldNames, 'uri'],
  lists: new Set(
    groupFieldNames.filter(name => groupFields[name].syntax === 'strings'),
  ),
};

/** The keys of a user's group: name and URI, or with a mask a whole group. */
export const userGroupModel: RecordModel = {
  ...groupModel,
  defaults: ['groupname', 'uri'],
};

/** Which fields of the directory the keys of an answer need. */
export function groupFieldsFor(
  keys: readonly string[],
): ReadonlySet<GroupField> {
  return new Set(keys.filter(isGroupField));
}

/** A group as the API shows it, with the given keys in their order. */
export function presentGroup(
  group: Group,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  return presentRecord(group, {
    keys,
    fields: groupFields,
    uri: uris.group(group.groupname),
  });
}
