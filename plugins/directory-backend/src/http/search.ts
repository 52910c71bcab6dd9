import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseGroupSearch } from './request/parseGroupSearch';
import { parseUserSearch } from './request/parseUserSearch';
import { countShown } from './response/countShown';
import { envelopePage } from './response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroup,
} from './response/presentGroup';
import { presentUser, userFieldsFor, userModel } from './response/presentUser';
import type { ResourceUris } from './response/ResourceUris';

/**
 * Searches users by their fields and groups (contract, section 4.3), and, as
 * an extension, groups.
 */
export function searchOperations(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { directory, uris } = options;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'search',
      path: '/search/users/',
      async handle({ query, fieldMask, context }) {
        const { terms, page } = parseUserSearch(query);
        const keys = resolveFields(fieldMask, userModel);
        const users = await directory.searchUsers(
          { terms, page, fields: userFieldsFor(keys) },
          context,
        );
        return envelopePage(users, page, user => presentUser(user, keys, uris));
      },
    },
    {
      ...read,
      id: 'search_groups',
      path: '/search/groups/',
      async handle({ query, fieldMask, context }) {
        const { terms, page } = parseGroupSearch(query);
        const keys = resolveFields(fieldMask, groupModel);
        const groups = await directory.searchGroups(
          { terms, page, fields: groupFieldsFor(keys) },
          context,
        );
        const counts = await countShown(groups.items, {
          keys,
          directory,
          context,
        });
        return envelopePage(groups, page, group =>
          presentGroup(group, { keys, uris, counts }),
        );
      },
    },
  ];
}
