import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { Operation } from './Call';
import { resolveFields, type RecordModel } from './request/fieldMask';
import { parseParameters } from './request/ParameterErrors';
import { parsePage } from './request/parsePage';
import { groupNotFound, userNotFound } from './response/apiErrors';
import { countShown } from './response/countShown';
import { envelopePage } from './response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroup,
  userGroupModel,
} from './response/presentGroup';
import type { ResourceUris } from './response/ResourceUris';

const membershipModel: RecordModel = {
  ...groupModel,
  keys: [...groupModel.keys, 'direct', 'sponsor', 'path'],
  lists: new Set([...groupModel.lists, 'path']),
};

const memberGroupModel: RecordModel = {
  ...groupModel,
  keys: [...groupModel.keys, 'has_member_groups'],
};

/** Extensions: why somebody is in a group, whom they sponsor, what is nested. */
export function membershipOperations(options: {
  readonly directory: PrivateDirectory;
  readonly uris: ResourceUris;
}): readonly Operation[] {
  const { directory, uris } = options;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'list_user_memberships',
      path: '/users/:username/memberships/',
      async handle({ params: { username }, query, fieldMask, context }) {
        const page = parseParameters(errors => parsePage(query, errors));
        const keys = resolveFields(fieldMask, membershipModel);
        const memberships = await directory.listUserMemberships(
          { username, page, fields: groupFieldsFor(keys) },
          context,
        );
        if (!memberships) {
          throw userNotFound(username);
        }
        const groups = memberships.items.map(({ group }) => group);
        const counts = await countShown(groups, { keys, directory, context });
        return envelopePage(memberships, page, membership => {
          const { group, direct, sponsor, path } = membership;
          const besides = {
            ...{ direct, sponsor },
            path: path.map(groupname => groupname ?? null),
          };
          return presentGroup(group, { keys, uris, counts, besides });
        });
      },
    },
    {
      ...read,
      id: 'list_sponsored_groups',
      path: '/users/:username/sponsored-groups/',
      async handle({ params: { username }, query, fieldMask, context }) {
        const page = parseParameters(errors => parsePage(query, errors));
        const keys = resolveFields(fieldMask, userGroupModel);
        const groups = await directory.listSponsoredGroups(
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
      id: 'list_member_groups',
      path: '/groups/:groupname/member-groups/',
      async handle({ params: { groupname }, query, fieldMask, context }) {
        const page = parseParameters(errors => parsePage(query, errors));
        const keys = resolveFields(fieldMask, memberGroupModel);
        const nested = await directory.listMemberGroups(
          { groupname, page, fields: groupFieldsFor(keys) },
          context,
        );
        if (!nested) {
          throw groupNotFound(groupname);
        }
        const groups = nested.items.map(({ group }) => group);
        const counts = await countShown(groups, { keys, directory, context });
        return envelopePage(nested, page, ({ group, hasMemberGroups }) =>
          presentGroup(group, {
            ...{ keys, uris, counts },
            besides: { has_member_groups: hasMemberGroups },
          }),
        );
      },
    },
  ];
}
