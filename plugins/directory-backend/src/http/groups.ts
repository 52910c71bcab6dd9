import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseMemberSelection } from './request/parseMemberSelection';
import { MAX_LIST_PAGE_SIZE, parsePage } from './request/parsePage';
import { groupNotFound } from './response/apiErrors';
import { countShown } from './response/countShown';
import { envelopePage } from './response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroup,
} from './response/presentGroup';
import {
  memberModel,
  presentUser,
  userFieldsFor,
} from './response/presentUser';
import type { ResourceUris } from './response/ResourceUris';

const bounds = { maxSize: MAX_LIST_PAGE_SIZE };

/** Groups, their members and their sponsors (contract, section 4.2). */
export function groupOperations(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { directory, uris } = options;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'list_groups',
      path: '/groups/',
      async handle({ query, fieldMask, context }) {
        const page = parsePage(query, bounds);
        const keys = resolveFields(fieldMask, groupModel);
        const groups = await directory.listGroups(
          { page, fields: groupFieldsFor(keys) },
          context,
        );
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
      id: 'get_group',
      path: '/groups/:groupname/',
      async handle({ params: { groupname }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, groupModel);
        const group = await directory.getGroup(
          { groupname, fields: groupFieldsFor(keys) },
          context,
        );
        if (!group) {
          throw groupNotFound(groupname);
        }
        const counts = await countShown([group], { keys, directory, context });
        return { result: presentGroup(group, { keys, uris, counts }) };
      },
    },
    {
      ...read,
      id: 'list_group_members',
      path: '/groups/:groupname/members/',
      async handle({ params: { groupname }, query, fieldMask, context }) {
        const page = parsePage(query, bounds);
        const selection = parseMemberSelection(query);
        const keys = resolveFields(fieldMask, memberModel);
        const members = await directory.listGroupMembers(
          { groupname, page, ...selection, fields: userFieldsFor(keys) },
          context,
        );
        if (!members) {
          throw groupNotFound(groupname);
        }
        return envelopePage(members, page, user =>
          presentUser(user, keys, uris),
        );
      },
    },
    {
      ...read,
      id: 'list_group_sponsors',
      path: '/groups/:groupname/sponsors/',
      async handle({ params: { groupname }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, memberModel);
        const sponsors = await directory.listGroupSponsors(
          { groupname, fields: userFieldsFor(keys) },
          context,
        );
        if (!sponsors) {
          throw groupNotFound(groupname);
        }
        return {
          result: sponsors.map(user => presentUser(user, keys, uris)),
        };
      },
    },
    {
      ...read,
      id: 'check_membership',
      path: '/groups/:groupname/is-member/:username',
      async handle({ params: { groupname, username }, context }) {
        const result = await directory.isMember(
          { groupname, username },
          context,
        );
        if (result === undefined) {
          throw groupNotFound(groupname);
        }
        return { result };
      },
    },
  ];
}
