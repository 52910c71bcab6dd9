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

/** How many members a group has: counted for masks that name it only. */
export const MEMBER_COUNT = 'member_count';

/** The keys of a group's record, in the contract's order. */
export const groupModel: RecordModel = {
  keys: [...groupFieldNames, 'uri'],
  onlyByName: [MEMBER_COUNT],
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

/** How a group is shown. */
export interface GroupPresentation {
  /** In their order. */
  readonly keys: readonly string[];
  readonly uris: ResourceUris;
  /** Members by group name, where they are shown. */
  readonly counts?: ReadonlyMap<string, number>;
  /** Values of keys that only this list has. */
  readonly besides?: Readonly<Record<string, unknown>>;
}

/** A group as the API shows it. */
export function presentGroup(
  group: Group,
  { keys, uris, counts, besides }: GroupPresentation,
): Record<string, unknown> {
  return presentRecord(group, {
    keys,
    fields: groupFields,
    uri: uris.group(group.groupname),
    besides: { ...besides, [MEMBER_COUNT]: counts?.get(group.groupname) },
  });
}
