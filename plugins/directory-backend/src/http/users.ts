import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parsePage } from './request/parsePage';
import { userNotFound } from './response/apiErrors';
import { envelopePage } from './response/envelope';
import { fieldsFor, presentUser, userModel } from './response/presentUser';
import type { ResourceUris } from './response/ResourceUris';

/** Users by name and as a list (contract, section 4.2). */
export function userOperations(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { directory, uris } = options;
  return [
    {
      id: 'list_users',
      method: 'get',
      path: '/users/',
      permission: directoryReadPermission,
      async handle({ query, fieldMask, context }) {
        const page = parsePage(query, { maxSize: 1000 });
        const keys = resolveFields(fieldMask, userModel);
        const users = await directory.listUsers(
          { page, fields: fieldsFor(keys) },
          context,
        );
        return envelopePage(users, page, user => presentUser(user, keys, uris));
      },
    },
    {
      id: 'get_user',
      method: 'get',
      path: '/users/:username/',
      permission: directoryReadPermission,
      async handle({ params: { username }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, userModel);
        const user = await directory.getUser(
          { username, fields: fieldsFor(keys) },
          context,
        );
        if (!user) {
          throw userNotFound(username);
        }
        return { result: presentUser(user, keys, uris) };
      },
    },
  ];
}
