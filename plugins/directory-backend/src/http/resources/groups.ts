import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { User } from '../../directory/records';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseMemberSelection } from '../request/parseMemberSelection';
import { WHOLE_LIST } from '../request/parsePage';
import { groupNotFound } from '../response/apiErrors';
import { found, mapPage } from '../response/envelope';
import {
  groupFieldsFor,
  presentGroup,
  presentGroups,
} from '../response/presentRecords';
import { streamedList } from '../response/streamedList';

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
