import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import { requireAccount } from '../api/requireAccount';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseSearchPage } from '../request/parsePage';
import { envelopePage, mapPage } from '../response/envelope';
import { presentUser, userFieldsFor, userModel } from '../response/presentUser';
import type { ResourceUris } from '../response/ResourceUris';

/** An extension: people of the caller's groups, newest first. */
export function colleaguesOperation(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): Operation {
  const { directory, uris } = options;
  return {
    id: 'list_colleagues',
    method: 'get',
    path: '/me/colleagues/',
    permission: directoryReadPermission,
    async handle({ caller, query, fieldMask, context }) {
      const page = parseParameters(errors => parseSearchPage(query, errors));
      const keys = resolveFields(fieldMask, userModel);
      const { dn } = requireAccount(caller);
      const colleagues = await directory.listUsers(
        {
          from: { kind: 'colleaguesOf', dn },
          order: { kind: 'newestFirst' },
          page,
          fields: userFieldsFor(keys),
        },
        context,
      );
      const shown = mapPage(colleagues, user => presentUser(user, keys, uris));
      return envelopePage(shown, page);
    },
  };
}
