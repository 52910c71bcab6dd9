import { type Operation, operation } from '../api/Operation';
import {
  parseGroupSearch,
  parseMemberSelection,
} from '../request/parseGroupSearch';
import { WHOLE_LIST } from '../request/parsePage';
import { groupNotFound } from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
import { groupFieldsFor, presentGroups } from '../response/presentRecords';
import { type DirectoryOptions, found, groupList, userList } from './lists';

/** Groups, their members and sponsors (contract, section 4.2). */
export function groupOperations(
  options: DirectoryOptions,
): readonly Operation[] {
  const { directory, dialect } = options;
  const { models, uris } = dialect;
  return [
    groupList(options, {
      id: 'list_groups',
      path: '/groups/',
      model: models.group,
      select: ({ query }, errors) => ({
        from: { kind: 'all' },
        page: dialect.readPage(query, errors),
      }),
    }),
    operation({
      id: 'get_group',
      path: '/groups/:groupname/',
      model: models.group,
      async handle({ params: { groupname }, context }, { keys }) {
        const group = await directory.getGroup(
          { groupname, fields: groupFieldsFor(keys) },
          context,
        );
        const listed = {
          group: found(group, () => groupNotFound(groupname)),
        };
        const [result] = await presentGroups([listed], {
          keys,
          uris,
          directory,
          context,
        });
        return { result };
      },
    }),
    userList(options, {
      id: 'list_group_members',
      path: '/groups/:groupname/members/',
      model: models.member,
      present: dialect.presentMember,
      select({ params: { groupname }, query }, errors) {
        const page = dialect.readPage(query, errors);
        const { membership, where } = dialect.hasExtensions
          ? parseMemberSelection(query, errors)
          : {};
        const from = { kind: 'membersOf', groupname, membership } as const;
        return { from, where, page };
      },
    }),
    operation({
      id: 'list_group_sponsors',
      path: '/groups/:groupname/sponsors/',
      model: models.member,
      async handle({ params: { groupname }, context }, { keys }) {
        const sponsors = await directory.listUsers(
          {
            from: { kind: 'sponsorsOf', groupname },
            page: WHOLE_LIST,
            fields: dialect.userFieldsFor(keys),
          },
          context,
        );
        const { items } = found(sponsors, () => groupNotFound(groupname));
        return { result: items.map(user => dialect.presentMember(user, keys)) };
      },
    }),
    operation({
      id: 'check_membership',
      path: '/groups/:groupname/is-member/:username',
      async handle({ params: { groupname, username }, context }) {
        const result = await directory.isMember(
          { groupname, username },
          context,
        );
        return { result: found(result, () => groupNotFound(groupname)) };
      },
    }),
  ];
}

/**
 * Extensions: the search for groups, why a user is in a group, which groups a
 * user sponsors, and nested groups.
 */
export function groupExtensions(
  options: DirectoryOptions,
): readonly Operation[] {
  const { dialect } = options;
  const { group, userGroup } = dialect.models;
  const membershipModel: RecordModel = {
    ...group,
    keys: [...group.keys, 'direct', 'sponsor', 'path'],
    lists: new Set([...group.lists, 'path']),
  };
  return [
    groupList(options, {
      id: 'search_groups',
      path: '/search/groups/',
      model: group,
      select: ({ query }, errors) => ({
        from: { kind: 'all' },
        ...parseGroupSearch(query, errors),
      }),
    }),
    groupList(options, {
      id: 'list_user_memberships',
      path: '/users/:username/memberships/',
      model: membershipModel,
      select: ({ params: { username }, query }, errors) => ({
        from: { kind: 'ofUser', username, reasons: true },
        page: dialect.readPage(query, errors),
      }),
    }),
    groupList(options, {
      id: 'list_sponsored_groups',
      path: '/users/:username/sponsored-groups/',
      model: userGroup,
      select: ({ params: { username }, query }, errors) => ({
        from: { kind: 'sponsoredBy', username },
        page: dialect.readPage(query, errors),
      }),
    }),
    groupList(options, {
      id: 'list_member_groups',
      path: '/groups/:groupname/member-groups/',
      model: { ...group, keys: [...group.keys, 'has_member_groups'] },
      select: ({ params: { groupname }, query }, errors) => ({
        from: { kind: 'nestedIn', groupname },
        page: dialect.readPage(query, errors),
      }),
    }),
  ];
}
