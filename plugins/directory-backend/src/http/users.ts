import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { MAX_LIST_PAGE_SIZE, parsePage } from './request/parsePage';
import { userNotFound } from './response/apiErrors';
import { countShown } from './response/countShown';
import { envelopePage } from './response/envelope';
import {
  groupFieldsFor,
  presentGroup,
  userGroupModel,
} from './response/presentGroup';
import { presentUser, userFieldsFor, userModel } from './response/presentUser';
import type { ResourceUris } from './response/ResourceUris';

const bounds = { maxSize: MAX_LIST_PAGE_SIZE };

/** Users, their groups and their agreements (contract, section 4.2). */
export function userOperations(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { directory, uris } = options;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'list_users',
      path: '/users/',
      async handle({ query, fieldMask, context }) {
        const page = parsePage(query, bounds);
        const keys = resolveFields(fieldMask, userModel);
        const users = await directory.listUsers(
          { page, fields: userFieldsFor(keys) },
          context,
        );
        return envelopePage(users, page, user => presentUser(user, keys, uris));
      },
    },
    {
      ...read,
      id: 'get_user',
      path: '/users/:username/',
      async handle({ params: { username }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, userModel);
        const user = await directory.getUser(
          { username, fields: userFieldsFor(keys) },
          context,
        );
        if (!user) {
          throw userNotFound(username);
        }
        return { result: presentUser(user, keys, uris) };
      },
    },
    {
      ...read,
      id: 'list_user_groups',
      path: '/users/:username/groups/',
      async handle({ params: { username }, query, fieldMask, context }) {
        const page = parsePage(query, bounds);
        const keys = resolveFields(fieldMask, userGroupModel);
        const groups = await directory.listUserGroups(
          { username, page, fields: groupFieldsFor(keys) },
          context,
        );
        if (!groups) {
          throw userNotFound(username);
        }
        const counts = await countShown(groups.items, {
          ...{ keys, directory, context },
        });
        return envelopePage(groups, page, group =>
          presentGroup(group, { keys, uris, counts }),
        );
      },
    },
    {
      ...read,
      id: 'list_user_agreements',
      path: '/users/:username/agreements/',
      async handle({ params: { username }, query, fieldMask, context }) {
        const page = parsePage(query, bounds);
        const keys = resolveFields(fieldMask, {
          keys: ['name'],
          lists: new Set(),
        });
        const agreements = await directory.listUserAgreements(
          { username, page },
          context,
        );
        if (!agreements) {
          throw userNotFound(username);
        }
        return envelopePage(agreements, page, name =>
          keys.length > 0 ? { name } : {},
        );
      },
    },
  ];
}
