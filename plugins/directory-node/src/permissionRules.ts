import {
  createConditionExports,
  createPermissionResourceRef,
  createPermissionRule,
} from '@backstage/plugin-permission-node';
import {
  RESOURCE_TYPE_DIRECTORY_GROUP,
  RESOURCE_TYPE_DIRECTORY_USER,
} from '@directory-gateway/backstage-plugin-directory-common';
import { z } from 'zod';

/**
 * A directory user or group to which permission rules are applied.
 *
 * @public
 */
export interface DirectoryPermissionResource<Query> {
  /** Returns whether a query selects the entry. */
  isSelectedBy(query: Query): boolean;
}

/**
 * Selects users: `isUser` by user name, `isMember` by membership in at least
 * one of the groups, directly or through other groups. Names are
 * case-insensitive. Empty lists and unknown names do not select anything.
 *
 * @public
 */
export type DirectoryUserQuery =
  | { readonly kind: 'isUser'; readonly usernames: readonly string[] }
  | { readonly kind: 'isMember'; readonly groupnames: readonly string[] };

/**
 * Selects groups by their members or sponsors: at least one of the users,
 * directly or through other groups. Names are case-insensitive. Empty lists and
 * unknown names do not select anything.
 *
 * @public
 */
export interface DirectoryGroupQuery {
  /** Whether the users are members or sponsors. */
  readonly kind: 'hasMember' | 'hasSponsor';
  /** User names. */
  readonly usernames: readonly string[];
}

/**
 * Directory users as a resource of the permission framework. Resource
 * references are user names.
 *
 * @public
 */
export const directoryUserResourceRef = createPermissionResourceRef<
  DirectoryPermissionResource<DirectoryUserQuery>,
  DirectoryUserQuery
>().with({
  pluginId: 'directory',
  resourceType: RESOURCE_TYPE_DIRECTORY_USER,
});

/**
 * Directory groups as a resource of the permission framework. Resource
 * references are group names.
 *
 * @public
 */
export const directoryGroupResourceRef = createPermissionResourceRef<
  DirectoryPermissionResource<DirectoryGroupQuery>,
  DirectoryGroupQuery
>().with({
  pluginId: 'directory',
  resourceType: RESOURCE_TYPE_DIRECTORY_GROUP,
});

const usernamesSchema = z.object({
  usernames: z.array(z.string()).describe('User names'),
});

const groupnamesSchema = z.object({
  groupnames: z.array(z.string()).describe('Group names'),
});

/**
 * Permission rules for directory users, by name.
 *
 * @public
 */
export const directoryUserRules = {
  isUser: createPermissionRule({
    name: 'IS_USER',
    description: 'Allow users with one of these user names',
    resourceRef: directoryUserResourceRef,
    paramsSchema: usernamesSchema,
    apply: (user, { usernames }) =>
      user.isSelectedBy({ kind: 'isUser', usernames }),
    toQuery: ({ usernames }) => ({ kind: 'isUser', usernames }),
  }),
  isMember: createPermissionRule({
    name: 'IS_MEMBER',
    description: 'Allow members of at least one of these groups',
    resourceRef: directoryUserResourceRef,
    paramsSchema: groupnamesSchema,
    apply: (user, { groupnames }) =>
      user.isSelectedBy({ kind: 'isMember', groupnames }),
    toQuery: ({ groupnames }) => ({ kind: 'isMember', groupnames }),
  }),
};

/**
 * Permission rules for directory groups, by name.
 *
 * @public
 */
export const directoryGroupRules = {
  hasMember: createPermissionRule({
    name: 'HAS_MEMBER',
    description: 'Allow groups with at least one of these users as a member',
    resourceRef: directoryGroupResourceRef,
    paramsSchema: usernamesSchema,
    apply: (group, { usernames }) =>
      group.isSelectedBy({ kind: 'hasMember', usernames }),
    toQuery: ({ usernames }) => ({ kind: 'hasMember', usernames }),
  }),
  hasSponsor: createPermissionRule({
    name: 'HAS_SPONSOR',
    description: 'Allow groups with at least one of these users as a sponsor',
    resourceRef: directoryGroupResourceRef,
    paramsSchema: usernamesSchema,
    apply: (group, { usernames }) =>
      group.isSelectedBy({ kind: 'hasSponsor', usernames }),
    toQuery: ({ usernames }) => ({ kind: 'hasSponsor', usernames }),
  }),
};

const userExports = createConditionExports({
  resourceRef: directoryUserResourceRef,
  rules: directoryUserRules,
});

const groupExports = createConditionExports({
  resourceRef: directoryGroupResourceRef,
  rules: directoryGroupRules,
});

/**
 * Conditions on directory users for permission policies: `isUser` and
 * `isMember`.
 *
 * @public
 */
export const directoryUserConditions = userExports.conditions;

/**
 * Creates a policy decision on `directory.user.read` from conditions.
 *
 * @public
 */
export const createDirectoryUserConditionalDecision =
  userExports.createConditionalDecision;

/**
 * Conditions on directory groups for permission policies: `hasMember` and
 * `hasSponsor`.
 *
 * @public
 */
export const directoryGroupConditions = groupExports.conditions;

/**
 * Creates a policy decision on `directory.group.read` from conditions.
 *
 * @public
 */
export const createDirectoryGroupConditionalDecision =
  groupExports.createConditionalDecision;
