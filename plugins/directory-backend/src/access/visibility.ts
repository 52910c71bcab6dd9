import type { PermissionsRegistryService } from '@backstage/backend-plugin-api';
import {
  type AllOfCriteria,
  type AnyOfCriteria,
  AuthorizeResult,
  type ConditionalPolicyDecision,
  type NotCriteria,
  type PermissionCriteria,
  type PolicyDecision,
} from '@backstage/plugin-permission-common';
import {
  createConditionTransformer,
  type PermissionResourceRef,
} from '@backstage/plugin-permission-node';
import {
  directoryGroupReadPermission,
  directoryUserReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  type DirectoryGroupQuery,
  directoryGroupResourceRef,
  directoryGroupRules,
  type DirectoryUserQuery,
  directoryUserResourceRef,
  directoryUserRules,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  allOf,
  anyOf,
  type GroupCondition,
  not,
  type Predicate,
  type UserCondition,
  type Visibility,
  type VisibilityTests,
} from '@directory-gateway/directory-core';

/** Permission rules by resource type. */
export type PermissionRules = Pick<
  PermissionsRegistryService,
  'getPermissionRuleset'
>;

/** Adds users and groups to the resource types of the permission framework. */
export function addResourceTypes({
  permissionsRegistry,
  entries,
}: {
  readonly permissionsRegistry: PermissionsRegistryService;
  readonly entries: VisibilityTests;
}): void {
  const resourcesOf = async <Query>(
    names: readonly string[],
    kind: 'users' | 'groups',
    toPredicate: (query: Query) => Visibility,
  ) =>
    (await entries.testsOf(kind, names)).map(
      test =>
        test && { isSelectedBy: (query: Query) => test(toPredicate(query)) },
    );
  permissionsRegistry.addResourceType({
    resourceRef: directoryUserResourceRef,
    permissions: [directoryUserReadPermission],
    rules: Object.values(directoryUserRules),
    getResources: names =>
      resourcesOf(names, 'users', (query: DirectoryUserQuery) => ({
        users: userPredicateOf(query),
      })),
  });
  permissionsRegistry.addResourceType({
    resourceRef: directoryGroupResourceRef,
    permissions: [directoryGroupReadPermission],
    rules: Object.values(directoryGroupRules),
    getResources: names =>
      resourcesOf(names, 'groups', (query: DirectoryGroupQuery) => ({
        groups: groupPredicateOf(query),
      })),
  });
}

/** Returns the visibility that a policy grants; `undefined` for everything. */
export function visibilityBy(
  decisions: {
    readonly users: PolicyDecision;
    readonly groups: PolicyDecision;
  },
  rules: PermissionRules,
): Visibility | undefined {
  const users = predicateBy(decisions.users, {
    rules,
    resourceRef: directoryUserResourceRef,
    toPredicate: userPredicateOf,
  });
  const groups = predicateBy(decisions.groups, {
    rules,
    resourceRef: directoryGroupResourceRef,
    toPredicate: groupPredicateOf,
  });
  return users || groups ? { users, groups } : undefined;
}

/** The predicate of a decision; `undefined` for everything. */
function predicateBy<Query, Condition extends object>(
  decision: PolicyDecision,
  options: {
    readonly rules: PermissionRules;
    readonly resourceRef: PermissionResourceRef<unknown, Query>;
    readonly toPredicate: (query: Query) => Predicate<Condition>;
  },
): Predicate<Condition> | undefined {
  const { rules, resourceRef, toPredicate } = options;
  switch (decision.result) {
    case AuthorizeResult.ALLOW:
      return undefined;
    case AuthorizeResult.DENY:
      return anyOf<Condition>();
    default: {
      const { conditions } = decision as ConditionalPolicyDecision;
      const toQueries = createConditionTransformer(
        rules.getPermissionRuleset(resourceRef),
      );
      return combine(toQueries(conditions), toPredicate);
    }
  }
}

function combine<Query, Condition extends object>(
  criteria: PermissionCriteria<Query>,
  toPredicate: (query: Query) => Predicate<Condition>,
): Predicate<Condition> {
  const all = (parts: readonly PermissionCriteria<Query>[]) =>
    parts.map(part => combine(part, toPredicate));
  const {
    allOf: every,
    anyOf: some,
    not: none,
  } = criteria as Partial<
    AllOfCriteria<Query> & AnyOfCriteria<Query> & NotCriteria<Query>
  >;
  if (every) {
    return allOf(...all(every));
  }
  if (some) {
    return anyOf(...all(some));
  }
  return none
    ? not(combine(none, toPredicate))
    : toPredicate(criteria as Query);
}

function userPredicateOf(query: DirectoryUserQuery): Predicate<UserCondition> {
  return query.kind === 'isUser'
    ? anyOf(
        ...query.usernames.map(text => ({
          kind: 'equals' as const,
          field: 'username' as const,
          text,
        })),
      )
    : anyOf(
        ...query.groupnames.map(groupname => ({
          kind: 'memberOf' as const,
          groupname,
        })),
      );
}

function groupPredicateOf({
  kind,
  usernames,
}: DirectoryGroupQuery): Predicate<GroupCondition> {
  return anyOf(...usernames.map(username => ({ kind, username })));
}
