import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { Operation } from '../api/Operation';
import { resolveFields, type RecordModel } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parsePage } from '../request/parsePage';
import { groupNotFound, userNotFound } from '../response/apiErrors';
import { envelopePage, found } from '../response/envelope';
import {
  groupFieldsFor,
  groupModel,
  presentGroups,
  userGroupModel,
} from '../response/presentRecords';
import type { ResourceUris } from '../response/ResourceUris';

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
        const groups = await directory.listGroups(
          {
            from: { kind: 'ofUser', username, reasons: true },
            page,
            fields: groupFieldsFor(keys),
          },
          context,
        );
        const shown = await presentGroups(
          found(groups, () => userNotFound(username)),
          { keys, uris, directory, context },
        );
        return envelopePage(shown, page);
      },
    },
    {
      ...read,
      id: 'list_sponsored_groups',
      path: '/users/:username/sponsored-groups/',
      async handle({ params: { username }, query, fieldMask, context }) {
        const page = parseParameters(errors => parsePage(query, errors));
        const keys = resolveFields(fieldMask, userGroupModel);
        const groups = await directory.listGroups(
          {
            from: { kind: 'sponsoredBy', username },
            page,
            fields: groupFieldsFor(keys),
          },
          context,
        );
        const shown = await presentGroups(
          found(groups, () => userNotFound(username)),
          { keys, uris, directory, context },
        );
        return envelopePage(shown, page);
      },
    },
    {
      ...read,
      id: 'list_member_groups',
      path: '/groups/:groupname/member-groups/',
      async handle({ params: { groupname }, query, fieldMask, context }) {
        const page = parseParameters(errors => parsePage(query, errors));
        const keys = resolveFields(fieldMask, memberGroupModel);
        const groups = await directory.listGroups(
          {
            from: { kind: 'nestedIn', groupname },
            page,
            fields: groupFieldsFor(keys),
          },
          context,
        );
        const shown = await presentGroups(
          found(groups, () => groupNotFound(groupname)),
          { keys, uris, directory, context },
        );
        return envelopePage(shown, page);
      },
    },
  ];
}
