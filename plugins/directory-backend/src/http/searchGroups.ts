import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseParameters } from './request/ParameterErrors';
import { parseGroupSearch } from './request/parseGroupSearch';
import { countShown } from './response/countShown';
import { envelopePage } from './response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroup,
} from './response/presentGroup';
import type { ResourceUris } from './response/ResourceUris';

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
      const { terms, page } = parseParameters(errors =>
        parseGroupSearch(query, errors),
      );
      const keys = resolveFields(fieldMask, groupModel);
      const groups = await directory.searchGroups(
        { terms, page, fields: groupFieldsFor(keys) },
        context,
      );
      const counts = await countShown(groups.items, {
        ...{ keys, directory, context },
      });
      return envelopePage(groups, page, group =>
        presentGroup(group, { keys, uris, counts }),
      );
    },
  };
}
