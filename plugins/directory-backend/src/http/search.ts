import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseUserSearch } from './request/parseUserSearch';
import { envelopePage } from './response/envelope';
import { presentUser, userFieldsFor, userModel } from './response/presentUser';
import type { ResourceUris } from './response/ResourceUris';

/** Searches users by their fields and groups (contract, section 4.3). */
export function searchOperation(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): Operation {
  const { directory, uris } = options;
  return {
    id: 'search',
    method: 'get',
    path: '/search/users/',
    permission: directoryReadPermission,
    async handle({ query, fieldMask, context }) {
      const { terms, page } = parseUserSearch(query);
      const keys = resolveFields(fieldMask, userModel);
      const users = await directory.searchUsers(
        { terms, page, fields: userFieldsFor(keys) },
        context,
      );
      return envelopePage(users, page, user => presentUser(user, keys, uris));
    },
  };
}
