import {
  type CallerContext,
  type FieldDefinition,
  type FieldSyntax,
  type GroupField,
  groupFieldNames,
  groupFields,
  isGroupField,
  isUserField,
  type ListedGroup,
  type PrivateDirectory,
  type User,
  type UserField,
  userFieldNames,
  userFields,
} from '@directory-gateway/directory-core';
import type { RecordModel } from './fieldMask';
import type { ResourceUris } from './ResourceUris';

/** Number of members of a group; returned only if the mask names it. */
const MEMBER_COUNT = 'member_count';

/** The keys of a group record, in the contract's order. */
export const groupModel: RecordModel = {
  keys: [...groupFieldNames, 'uri'],
  onlyByName: [MEMBER_COUNT],
  lists: new Set(
    groupFieldNames.filter(name => groupFields[name].syntax === 'strings'),
  ),
};

/** Like {@link groupModel}; without a mask, only name and URI. */
export const userGroupModel: RecordModel = {
  ...groupModel,
  defaults: ['groupname', 'uri'],
};

/** The directory fields that the given keys require. */
export function groupFieldsFor(
  keys: readonly string[],
): ReadonlySet<GroupField> {
  return new Set(keys.filter(isGroupField));
}

/** Presents groups with the given keys, in their order. */
export async function presentGroups(
  groups: readonly ListedGroup[],
  options: {
    readonly keys: readonly string[];
    readonly uris: ResourceUris;
    /** Counts members if a key requires it. */
    readonly directory: Pick<PrivateDirectory, 'countMembers'>;
    readonly context: CallerContext;
  },
): Promise<readonly Record<string, unknown>[]> {
  const { keys, uris, directory, context } = options;
  const groupnames = groups.map(({ group }) => group.groupname);
  const counts = keys.includes(MEMBER_COUNT)
    ? await directory.countMembers({ groupnames }, context)
    : undefined;
  return groups.map(({ group, reason, hasMemberGroups }) =>
    presentRecord(group, {
      keys,
      fields: groupFields,
      uri: uris.group(group.groupname),
      overrides: {
        direct: reason?.direct,
        sponsor: reason?.sponsor,
        path: reason?.path.map(groupname => groupname ?? null),
        has_member_groups: hasMemberGroups,
        [MEMBER_COUNT]: counts?.get(group.groupname),
      },
    }),
  );
}

/** Presents a record with the given keys, in their order; `null` for no value. */
export function presentRecord(
  record: Readonly<Record<string, unknown>>,
  options: {
    readonly keys: readonly string[];
    readonly fields: Readonly<Record<string, FieldDefinition>>;
    readonly uri: string;
    /** Values that replace those of the directory. */
    readonly overrides?: Readonly<Record<string, unknown>>;
  },
): Record<string, unknown> {
  const { keys, fields } = options;
  const overrides: Readonly<Record<string, unknown>> = {
    ...options.overrides,
    uri: options.uri,
  };
  const shown: Record<string, unknown> = {};
  for (const key of keys) {
    shown[key] = Object.hasOwn(overrides, key)
      ? overrides[key]
      : presentValue(record[key], fields[key].syntax);
  }
  return shown;
}

function presentValue(value: unknown, syntax: FieldSyntax): unknown {
  if (value === undefined) {
    return null;
  }
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

/** The keys of a user record, in the contract's order. */
export const userModel: RecordModel = {
  keys: [...userFieldNames, 'uri'],
  lists: new Set(
    userFieldNames.filter(name =>
      ['strings', 'certificates'].includes(userFields[name].syntax),
    ),
  ),
};

/**
 * The keys of a member or sponsor; without a mask, only name and URI. These
 * lists do not contain locked accounts, and therefore omit the `locked` key.
 */
export const memberModel: RecordModel = {
  keys: userModel.keys.filter(key => key !== 'locked'),
  lists: userModel.lists,
  defaults: ['username', 'uri'],
};

/** The directory fields that the given keys require. */
export function userFieldsFor(keys: readonly string[]): ReadonlySet<UserField> {
  return new Set(keys.filter(isUserField));
}

/** Presents a user with the given keys, in their order. */
export function presentUser(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
  /** Values of keys that are not fields of a user. */
  more?: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return presentRecord(user, {
    keys,
    fields: userFields,
    uri: uris.user(user.username),
    // The attribute is missing until an account is locked for the first time.
    overrides: { ...more, locked: user.locked ?? false },
  });
}
