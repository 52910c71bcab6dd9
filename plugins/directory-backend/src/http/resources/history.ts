import {
  directoryHistoryReadPermission,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { Page, PageRequest } from '@directory-gateway/directory-core';
import type { Change } from '../../changes/ChangeLog';
import type { Changes } from '../../changes/createChanges';
import type { AccessControl } from '../../access/AccessControl';
import type { Call, Operation } from '../api/Operation';
import { parseParameters } from '../request/ParameterErrors';
import { parsePage, WHOLE_LIST } from '../request/parsePage';
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
  const history = () =>
    found(
      changes.history,
      () =>
        new ResourceNotFoundError({
          message:
            'Histories are not available: directory.changes.history is not set.',
        }),
    );
  return [
    {
      id: 'list_group_history',
      method: 'get',
      path: '/groups/:groupname/history/',
      permission: directoryReadPermission,
      async handle(call) {
        const { caller, context, params } = call;
        const log = history();
        const group = await directory.getGroup(
          { groupname: params.groupname, fields: NO_FIELDS },
          context,
        );
        const { groupname } = found(group, () =>
          groupNotFound(params.groupname),
        );
        if (!(await isSponsor(directory, groupname, context))) {
          requireOperation(await access.operationsOf(caller));
        }
        return present(call, {
          dialect,
          read: page =>
            log.historyOf({ kind: 'group', name: groupname }, page, context),
        });
      },
    },
    {
      id: 'list_user_history',
      method: 'get',
      path: '/users/:username/history/',
      permission: directoryReadPermission,
      async handle(call) {
        const { caller, context, params } = call;
        const log = history();
        const user = await directory.getUser(
          { username: params.username, fields: NO_FIELDS },
          context,
        );
        const { username } = found(user, () => userNotFound(params.username));
        if (caller.account?.username !== username) {
          requireOperation(await access.operationsOf(caller));
        }
        return present(call, {
          dialect,
          read: page =>
            log.historyOf({ kind: 'user', name: username }, page, context),
        });
      },
    },
  ];
}

/** Returns when direct members of a group were added, by user name. */
export type JoinTimes = (
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
      (await access.operationsOf(caller)).has(
        directoryHistoryReadPermission.name,
      ));
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

/** @throws ForbiddenError when the caller may not read histories. */
function requireOperation(allowed: ReadonlySet<string>): void {
  if (!allowed.has(directoryHistoryReadPermission.name)) {
    throw new ForbiddenError({ message: 'You are not allowed to do this.' });
  }
}

async function present(
  call: Call,
  history: {
    readonly dialect: DirectoryOptions['dialect'];
    readonly read: (page: PageRequest) => Promise<Page<Change>>;
  },
): Promise<unknown> {
  const page = parseParameters(errors => parsePage(call.query, errors));
  const { items, total } = await history.read(page ?? WHOLE_LIST);
  return history.dialect.presentPage(
    { items: items.map(presentChange), total },
    { page, call },
  );
}
