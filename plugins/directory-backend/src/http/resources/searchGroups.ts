import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseGroupSearch } from '../request/parseGroupSearch';
import { envelopePage } from '../response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroups,
} from '../response/presentRecords';
import type { ResourceUris } from '../response/ResourceUris';

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
