import type { CallerContext } from '../../directory/Caller';
import type { ListedGroup } from '../../directory/Directory';
import type { Group } from '../../directory/Group';
import type { Page } from '../../directory/Page';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import {
  groupFieldNames,
  groupFields,
  isGroupField,
  type GroupField,
} from '../../directory/schema';
import type { RecordModel } from './fieldMask';
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

/** How groups are shown. */
export interface GroupPresentation {
  /** In their order. */
  readonly keys: readonly string[];
  readonly uris: ResourceUris;
  /** Counts members when the mask names the count. */
  readonly directory: Pick<PrivateDirectory, 'countMembers'>;
  readonly context: CallerContext;
}

/** Groups of a list as the API shows them. */
export async function presentGroups(
  page: Page<ListedGroup>,
  presentation: GroupPresentation,
): Promise<Page<Record<string, unknown>>> {
  return {
    ...page,
    items: await presentAll(page.items, presentation),
  };
}

/** A group as the API shows it. */
export async function presentGroup(
  group: Group,
  presentation: GroupPresentation,
): Promise<Record<string, unknown>> {
  const [shown] = await presentAll([{ group }], presentation);
  return shown;
}

async function presentAll(
  items: readonly ListedGroup[],
  { keys, uris, directory, context }: GroupPresentation,
): Promise<readonly Record<string, unknown>[]> {
  const groupnames = items.map(({ group }) => group.groupname);
  const counts = keys.includes(MEMBER_COUNT)
    ? await directory.countMembers({ groupnames }, context)
    : undefined;
  return items.map(({ group, reason, hasMemberGroups }) =>
    presentRecord(group, {
      keys,
      fields: groupFields,
      uri: uris.group(group.groupname),
      besides: {
        direct: reason?.direct,
        sponsor: reason?.sponsor,
        path: reason?.path.map(groupname => groupname ?? null),
        has_member_groups: hasMemberGroups,
        [MEMBER_COUNT]: counts?.get(group.groupname),
      },
    }),
  );
}
