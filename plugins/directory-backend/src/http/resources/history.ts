import { directoryHistoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Changes } from '../../changes/createChanges';
import type { AccessControl } from '../../access/AccessControl';
import { type Call, type Operation, operation } from '../api/Operation';
import { parseParameters } from '../request/ParameterErrors';
import { parsePage } from '../request/parsePage';
import {
  ForbiddenError,
  groupNotFound,
  ResourceNotFoundError,
  userNotFound,
} from '../../apiErrors';
import { presentChange } from './changes';
import { type DirectoryOptions, found } from './lists';

const NO_FIELDS: ReadonlySet<never> = new Set();

/** Dependencies of operations that read histories. */
export interface HistoryOptions extends DirectoryOptions {
  readonly access: Pick<AccessControl, 'operationsOf'>;
  readonly changes: Pick<Changes, 'history'>;
}

/** Extensions: the histories of users and groups. */
export function historyOperations(
  options: HistoryOptions,
): readonly Operation[] {
  const { access, changes, dialect, directory } = options;
  const readHistory = async (
    log: NonNullable<Changes['history']>,
    entry: Parameters<typeof log.historyOf>[0],
    { call, isOwner }: { readonly call: Call; readonly isOwner: boolean },
  ) => {
    const { caller, context, query } = call;
    if (!isOwner && !(await mayReadHistories(access, caller))) {
      throw new ForbiddenError({ message: 'You are not allowed to do this.' });
    }
    const page = parseParameters(errors => parsePage(query, errors));
    const { items, total } = await log.historyOf(entry, page, context);
    return dialect.presentPage(
      { items: items.map(presentChange), total },
      { page, call },
    );
  };
  return [
    operation({
      id: 'list_group_history',
      path: '/groups/:groupname/history/',
      async handle(call) {
        const { context, params } = call;
        const log = found(changes.history, historiesNotAvailable);
        const group = await directory.getGroup(
          { groupname: params.groupname, fields: NO_FIELDS },
          context,
        );
        const { groupname } = found(group, () =>
          groupNotFound(params.groupname),
        );
        const isOwner = await isSponsor(directory, groupname, context);
        const entry = { kind: 'group', name: groupname } as const;
        return readHistory(log, entry, { call, isOwner });
      },
    }),
    operation({
      id: 'list_user_history',
      path: '/users/:username/history/',
      async handle(call) {
        const { caller, context, params } = call;
        const log = found(changes.history, historiesNotAvailable);
        const user = await directory.getUser(
          { username: params.username, fields: NO_FIELDS },
          context,
        );
        const { username } = found(user, () => userNotFound(params.username));
        const isOwner = caller.account?.username === username;
        const entry = { kind: 'user', name: username } as const;
        return readHistory(log, entry, { call, isOwner });
      },
    }),
  ];
}

/** Returns when direct members of a group were added, by user name. */
type JoinTimes = (
  /** Default: all members. */
  usernames?: readonly string[],
) => Promise<ReadonlyMap<string, Date>>;

/**
 * Returns a function that reads when the direct members of a group were added.
 * It includes members that are hidden from the caller. Its result is empty when
 * the caller may not read the history.
 *
 * @throws ChangeLogUnavailableError
 */
export async function joinTimesOf(
  options: HistoryOptions,
  { caller, context, params }: Call,
): Promise<JoinTimes> {
  const { access, changes, directory } = options;
  const group = await directory.getGroup(
    { groupname: params.groupname, fields: NO_FIELDS },
    context,
  );
  const history = changes.history;
  const mayRead =
    group &&
    history &&
    ((await isSponsor(directory, group.groupname, context)) ||
      (await mayReadHistories(access, caller)));
  return async usernames =>
    mayRead ? history.joinTimesOf(group.groupname, usernames) : new Map();
}

async function isSponsor(
  directory: DirectoryOptions['directory'],
  groupname: string,
  context: Call['context'],
): Promise<boolean> {
  const username = context.caller.account?.username;
  if (username === undefined) {
    return false;
  }
  const sponsored = await directory.listGroups(
    {
      from: { kind: 'sponsoredBy', username },
      where: { kind: 'equals', field: 'groupname', text: groupname },
      page: { number: 1, size: 1 },
      fields: NO_FIELDS,
    },
    context,
  );
  // `undefined`: the account is not a served user.
  return sponsored !== undefined && sponsored.total > 0;
}

async function mayReadHistories(
  access: HistoryOptions['access'],
  caller: Call['caller'],
): Promise<boolean> {
  const operations = await access.operationsOf(caller);
  return operations.has(directoryHistoryReadPermission.name);
}

function historiesNotAvailable(): ResourceNotFoundError {
  return new ResourceNotFoundError({
    message:
      'Histories are not available: directory.changes.history is not set.',
  });
}
