import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import {
  envelopePage,
  groupFieldsFor,
  groupModel,
  mapPage,
  presentGroups,
} from '../response/presentRecords';
import { parseGroupSearch } from '../request/parseGroupSearch';
import type { ResourceUris } from '../response/ResourceUris';

/** Searches users by their fields and groups (contract, section 4.3). */
export function searchOperation(options: {
  readonly directory: PrivateDirectory;
  readonly dialect: Dialect;
}): Operation {
  const { directory, dialect } = options;
  return {
    id: 'search',
    method: 'get',
    path: '/search/users/',
    permission: directoryReadPermission,
    async handle(call) {
      const { query, fieldMask, context } = call;
      const { where, page } = parseParameters(errors =>
        dialect.readUserSearch(query, errors),
      );
      const keys = resolveFields(fieldMask, dialect.models.user);
      const fields = dialect.userFieldsFor(keys);
      const users = await directory.listUsers(
        { ...dialect.accounts, from: { kind: 'all' }, where, page, fields },
        context,
      );
      const shown = mapPage(users, user => dialect.presentUser(user, keys));
      return dialect.presentPage(shown, { page, call });
    },
  };
}

/** An extension: searches groups. */
export function searchGroupsOperation(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): Operation {
  const { directory, uris } = options;
  return {
    id: 'search_groups',
    method: 'get',
    path: '/search/groups/',
    permission: directoryReadPermission,
    async handle({ query, fieldMask, context }) {
      const { where, page } = parseParameters(errors =>
        parseGroupSearch(query, errors),
      );
      const keys = resolveFields(fieldMask, groupModel);
      const groups = await directory.listGroups(
        { from: { kind: 'all' }, where, page, fields: groupFieldsFor(keys) },
        context,
      );
      const shown = await presentGroups(groups, {
        keys,
        uris,
        directory,
        context,
      });
      return envelopePage(shown, page);
    },
  };
}
