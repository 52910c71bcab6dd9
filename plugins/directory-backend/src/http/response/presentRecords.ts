import type { CallerContext } from '../../directory/Caller';
import type { ListedGroup } from '../../directory/Directory';
import type { Group, User } from '../../directory/records';
import type { Page, PageRequest } from '../../directory/Page';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import {
  type FieldDefinition,
  type FieldSyntax,
  type GroupField,
  type UserField,
  groupFieldNames,
  groupFields,
  isGroupField,
  isUserField,
  userFieldNames,
  userFields,
} from '../../directory/schema';
import type { RecordModel } from './fieldMask';
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

/**
 * A record as the API shows it, with the given keys in their order. A missing
 * value is null; `uri` is the resource's own.
 */
export function presentRecord(
  record: Readonly<Record<string, unknown>>,
  options: {
    readonly keys: readonly string[];
    readonly fields: Readonly<Record<string, FieldDefinition>>;
    readonly uri: string;
    /** Values of keys that are not shown as the directory has them. */
    readonly besides?: Readonly<Record<string, unknown>>;
  },
): Record<string, unknown> {
  const { keys, fields } = options;
  const besides: Readonly<Record<string, unknown>> = {
    ...options.besides,
    uri: options.uri,
  };
  const shown: Record<string, unknown> = {};
  for (const key of keys) {
    shown[key] = Object.hasOwn(besides, key)
      ? besides[key]
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

/** One page of a list as the contract wraps it (section 2.1). */
export interface PaginatedEnvelope {
  readonly result: readonly unknown[];
  readonly page: number;
  readonly page_size: number;
  readonly total_results: number;
}

/** A result about an entry that exists; throws the error when it is missing. */
export function found<T>(result: T | undefined, notFound: () => Error): T {
  if (result === undefined) {
    throw notFound();
  }
  return result;
}

/** A page with each item presented. */
export function mapPage<T, R>(page: Page<T>, present: (item: T) => R): Page<R> {
  return { ...page, items: page.items.map(present) };
}

/** Wraps one page of a list, whose items are presented. */
export function envelopePage(
  page: Page<unknown>,
  request: PageRequest,
): PaginatedEnvelope {
  return {
    result: page.items,
    page: request.number,
    page_size: request.size,
    total_results: page.total,
  };
}
