import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { mapPage } from '../response/envelope';

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
