import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { User } from '../../directory/records';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseMemberSelection } from '../request/parseGroupSearch';
import { WHOLE_LIST, parsePage } from '../request/parsePage';
import { groupNotFound, userNotFound } from '../response/apiErrors';
import {
  envelopePage,
  found,
  groupFieldsFor,
  groupModel,
  mapPage,
  presentGroup,
  presentGroups,
  userGroupModel,
} from '../response/presentRecords';
import { streamedList } from '../response/FileStream';
import type { ResourceUris } from '../response/ResourceUris';

/** Groups, their members and their sponsors (contract, section 4.2). */
export function groupOperations(options: {
  readonly directory: PrivateDirectory;
  readonly dialect: Dialect;
}): readonly Operation[] {
  const { directory, dialect } = options;
  const { models, uris } = dialect;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'list_groups',
      path: '/groups/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const page = parseParameters(errors => dialect.readPage(query, errors));
        const keys = resolveFields(fieldMask, models.group);
        const groups = await directory.listGroups(
          {
            from: { kind: 'all' },
            page: page ?? WHOLE_LIST,
            fields: groupFieldsFor(keys),
          },
          context,
        );
        const shown = await presentGroups(groups, {
          keys,
          uris,
          directory,
          context,
        });
        return dialect.presentPage(shown, { page, call });
      },
    },
    {
      ...read,
      id: 'get_group',
      path: '/groups/:groupname/',
      async handle({ params: { groupname }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, models.group);
        const group = await directory.getGroup(
          { groupname, fields: groupFieldsFor(keys) },
          context,
        );
        const result = await presentGroup(
          found(group, () => groupNotFound(groupname)),
          { keys, uris, directory, context },
        );
        return { result };
      },
    },
    {
      ...read,
      id: 'list_group_members',
      path: '/groups/:groupname/members/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const { groupname } = call.params;
        const { page, selection } = parseParameters(errors => ({
          page: dialect.readPage(query, errors),
          selection: dialect.hasExtensions
            ? parseMemberSelection(query, errors)
            : {},
        }));
        const keys = resolveFields(fieldMask, models.member);
        const fields = dialect.userFieldsFor(keys);
        const present = (user: User) => dialect.presentUser(user, keys);
        const { membership, where } = selection;
        const members = {
          from: { kind: 'membersOf', groupname, membership },
          where,
          fields,
        } as const;
        const notFound = () => groupNotFound(groupname);
        if (!page) {
          const stream = await directory.streamUsers(members, context);
          return streamedList(found(stream, notFound), present);
        }
        const users = await directory.listUsers({ ...members, page }, context);
        return dialect.presentPage(mapPage(found(users, notFound), present), {
          page,
          call,
        });
      },
    },
    {
      ...read,
      id: 'list_group_sponsors',
      path: '/groups/:groupname/sponsors/',
      async handle({ params: { groupname }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, models.member);
        const sponsors = await directory.listUsers(
          {
            from: { kind: 'sponsorsOf', groupname },
            page: WHOLE_LIST,
            fields: dialect.userFieldsFor(keys),
          },
          context,
        );
        const { items } = found(sponsors, () => groupNotFound(groupname));
        return { result: items.map(user => dialect.presentUser(user, keys)) };
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
        return { result: found(result, () => groupNotFound(groupname)) };
      },
    },
  ];
}

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
