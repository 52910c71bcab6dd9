import type {
  BackstageCredentials,
  BackstageUserPrincipal,
  PermissionsServiceRequestOptions,
} from '@backstage/backend-plugin-api';
import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import {
  AuthorizeResult,
  type PolicyDecision,
} from '@backstage/plugin-permission-common';
import {
  directoryCertificateSignPermission,
  directoryGroupReadPermission,
  directoryReadPermission,
  directoryUserReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  createDirectoryGroupConditionalDecision,
  createDirectoryUserConditionalDecision,
  directoryGroupConditions,
  directoryGroupRules,
  directoryUserConditions,
  directoryUserRules,
} from '@directory-gateway/backstage-plugin-directory-node';
import { ConfigReader } from '@backstage/config';
import {
  type Caller,
  PrincipalSet,
  type PrincipalSetOptions,
} from '@directory-gateway/directory-core';
import {
  eventually,
  holder,
  person,
} from '@directory-gateway/directory-core/testUtils';
import { readDirectoryConfig } from '../config';
import { AccessControl, PolicyUnavailableError } from './AccessControl';

function userOf(options: PermissionsServiceRequestOptions): string {
  const { credentials } = options as { credentials: BackstageCredentials };
  const { userEntityRef } = credentials.principal as BackstageUserPrincipal;
  return userEntityRef;
}

/** The permission rules that the plugin registers. */
const permissionsRegistry = mockServices.permissionsRegistry.mock({
  getPermissionRuleset: () => ({
    getRuleByName: name =>
      [
        ...Object.values(directoryUserRules),
        ...Object.values(directoryGroupRules),
      ].find(rule => rule.name === name) as any,
  }),
});

const showsAll = async () => [
  { result: AuthorizeResult.ALLOW } as const,
  { result: AuthorizeResult.ALLOW } as const,
];

/** A permission framework that counts requests and decides by entity. */
function counting(
  decide: (user: string) => AuthorizeResult.ALLOW | AuthorizeResult.DENY,
  readDecisionMs?: number,
) {
  const queried: string[] = [];
  const permissions = mockServices.permissions.mock({
    async authorize([{ permission }], options) {
      queried.push(permission.name);
      return [{ result: decide(userOf(options)) }];
    },
    authorizeConditional: showsAll,
  });
  const control = new AccessControl({
    permissions,
    permissionsRegistry,
    readDecisionMs,
  });
  return { queried, control };
}

const callerOf = (name: string, issuedAt = new Date(0)) =>
  ({
    kind: 'portalUser',
    credentials: mockCredentials.user(`user:default/${name}`),
    issuedAt,
  }) as const;

it('caches the read decision of each token', async () => {
  const { queried, control } = counting(user =>
    user.endsWith('bob') ? AuthorizeResult.DENY : AuthorizeResult.ALLOW,
  );
  for (let round = 0; round < 3; round++) {
    await control.require(callerOf('alice'), directoryReadPermission);
    await expect(
      control.require(callerOf('bob'), directoryReadPermission),
    ).rejects.toThrow('You are not allowed to do this.');
  }
  expect(queried).toHaveLength(2);
});

it('does not share the read decision of a token with other tokens', async () => {
  const { queried, control } = counting(() => AuthorizeResult.ALLOW);
  const fromAction = { ...callerOf('alice'), issuedAt: undefined };
  for (const caller of [
    callerOf('alice'),
    callerOf('alice', new Date(1000)),
    callerOf('alice'),
    fromAction,
    fromAction,
  ]) {
    await control.require(caller, directoryReadPermission);
  }
  expect(queried).toHaveLength(4);
});

it('requests the read decision again after it expires', async () => {
  let result: AuthorizeResult.ALLOW | AuthorizeResult.DENY =
    AuthorizeResult.ALLOW;
  const { control } = counting(() => result, 50);
  await control.require(callerOf('alice'), directoryReadPermission);
  result = AuthorizeResult.DENY;
  await eventually(() =>
    expect(
      control.require(callerOf('alice'), directoryReadPermission),
    ).rejects.toThrow('You are not allowed to do this.'),
  );
});

it('does not cache decisions about other operations', async () => {
  const { queried, control } = counting(() => AuthorizeResult.ALLOW);
  for (let round = 0; round < 3; round++) {
    await control.require(
      callerOf('alice'),
      directoryCertificateSignPermission,
    );
  }
  expect(queried).toHaveLength(3);
});

it('does not cache failures of the policy', async () => {
  let isAway = true;
  const { control } = counting(() => {
    if (isAway) {
      throw new Error('The permission backend is down');
    }
    return AuthorizeResult.ALLOW;
  });
  const check = () =>
    control.require(callerOf('alice'), directoryReadPermission);
  await expect(check()).rejects.toThrow(PolicyUnavailableError);
  isAway = false;
  await expect(check()).resolves.toBeUndefined();
});

describe('with a policy that allows everything', () => {
  const READ = 'directory.read';
  const SIGN = 'directory.certificate.sign';
  const REVOKE = 'directory.certificate.revoke';
  const dave = { ...person('dave', ['admins']), source: 'live' } as const;
  const callers: Readonly<Record<string, Caller>> = {
    ticket: holder(dave),
    mapped: { ...callerOf('dave'), account: dave },
    unmapped: callerOf('guest'),
    service: {
      kind: 'portalService',
      credentials: mockCredentials.service('plugin:reports'),
    },
  };
  const operationsOf = async (
    caller: string,
    rules?: (PrincipalSetOptions & { operations: string[] })[],
  ) => {
    const control = new AccessControl({
      permissions: mockServices.permissions({ result: AuthorizeResult.ALLOW }),
      permissionsRegistry,
      rules: rules?.map(({ operations, ...named }) => ({
        callers: new PrincipalSet(named),
        operations: new Set(operations),
      })),
    });
    return [...(await control.operationsOf(callers[caller]))];
  };

  it.each([
    ['ticket', [READ, SIGN]],
    ['mapped', [READ, SIGN]],
    ['unmapped', [READ, SIGN]],
    ['service', [READ]],
  ])(
    'grants only the default operations when there are no rules: %s',
    async (caller, allowed) => {
      expect(await operationsOf(caller)).toEqual(allowed);
    },
  );

  it.each<[string, PrincipalSetOptions, string[]]>([
    ['ticket', { principals: ['dave'] }, [REVOKE]],
    ['ticket', { groups: ['Admins'] }, [REVOKE]],
    ['mapped', { principals: ['dave'] }, [REVOKE]],
    ['mapped', { principals: ['*'] }, [REVOKE]],
    ['unmapped', { portalUsers: ['user:default/guest'] }, [REVOKE]],
    ['unmapped', { portalUsers: ['*'] }, [REVOKE]],
    ['service', { services: ['plugin:reports'] }, [READ, REVOKE]],
    // Rules for other kinds of callers.
    ['ticket', { portalUsers: ['*'], services: ['dave'] }, []],
    ['mapped', { portalUsers: ['user:default/dave', '*'] }, []],
    ['unmapped', { principals: ['*', 'guest'] }, []],
    ['service', { principals: ['*'], portalUsers: ['*'] }, [READ]],
  ])(
    'grants %s, with a rule for %j, the operations %j',
    async (caller, rule, allowed) => {
      const rules = [{ ...rule, operations: [REVOKE] }];
      expect(await operationsOf(caller, rules)).toEqual(allowed);
    },
  );
});

it('requires both the policy and a rule for a portal token', async () => {
  const permissions = mockServices.permissions({
    result: AuthorizeResult.DENY,
  });
  const callers = new PrincipalSet({ principals: ['*'] });
  const operations = new Set(['directory.read']);
  const control = new AccessControl({
    permissions,
    permissionsRegistry,
    rules: [{ callers, operations }],
  });
  const dave = { ...person('dave'), source: 'live' } as const;
  await control.require(holder(dave), directoryReadPermission);
  await expect(
    control.require(
      { ...callerOf('dave'), account: dave },
      directoryReadPermission,
    ),
  ).rejects.toThrow('You are not allowed to do this.');
});

describe('AccessControl.visibilityOf', () => {
  /** Returns what a policy shows to alice. */
  async function shownBy(
    users: PolicyDecision,
    groups: PolicyDecision,
    caller: Caller = callerOf('alice'),
  ) {
    const permissions = mockServices.permissions.mock({
      authorize: async () => [{ result: AuthorizeResult.ALLOW }],
      authorizeConditional: async queries =>
        queries.map(({ permission }) =>
          permission.name === directoryUserReadPermission.name ? users : groups,
        ),
    });
    const control = new AccessControl({ permissions, permissionsRegistry });
    return control.visibilityOf(caller);
  }
  const allow = { result: AuthorizeResult.ALLOW } as const;
  const deny = { result: AuthorizeResult.DENY } as const;
  const ownGroups = createDirectoryGroupConditionalDecision(
    directoryGroupReadPermission,
    {
      anyOf: [
        directoryGroupConditions.hasMember({ usernames: ['alice', 'bob'] }),
        { not: directoryGroupConditions.hasSponsor({ usernames: ['alice'] }) },
      ],
    },
  );
  const colleagues = createDirectoryUserConditionalDecision(
    directoryUserReadPermission,
    {
      allOf: [
        directoryUserConditions.isMember({ groupnames: ['infra'] }),
        { not: directoryUserConditions.isUser({ usernames: [] }) },
      ],
    },
  );

  it('shows everything that the policy allows', async () => {
    expect(await shownBy(allow, allow)).toBeUndefined();
  });

  it('shows nothing that the policy denies', async () => {
    const nothing = { kind: 'anyOf', of: [] };
    expect(await shownBy(deny, deny)).toEqual({
      users: nothing,
      groups: nothing,
    });
    expect(await shownBy(allow, deny)).toEqual({ groups: nothing });
  });

  it('turns conditions into predicates', async () => {
    expect(await shownBy(colleagues, ownGroups)).toEqual({
      users: {
        kind: 'allOf',
        of: [
          { kind: 'anyOf', of: [{ kind: 'memberOf', groupname: 'infra' }] },
          { kind: 'not', of: { kind: 'anyOf', of: [] } },
        ],
      },
      groups: {
        kind: 'anyOf',
        of: [
          {
            kind: 'anyOf',
            of: [
              { kind: 'hasMember', username: 'alice' },
              { kind: 'hasMember', username: 'bob' },
            ],
          },
          {
            kind: 'not',
            of: {
              kind: 'anyOf',
              of: [{ kind: 'hasSponsor', username: 'alice' }],
            },
          },
        ],
      },
    });
  });

  it('shows everything to Kerberos principals and services', async () => {
    const dave = { ...person('dave'), source: 'live' } as const;
    expect(await shownBy(deny, deny, holder(dave))).toBeUndefined();
    const service: Caller = {
      kind: 'portalService',
      credentials: mockCredentials.service('plugin:reports'),
    };
    expect(await shownBy(deny, deny, service)).toBeUndefined();
  });

  it('rejects when the policy cannot be queried', async () => {
    const control = new AccessControl({
      permissions: mockServices.permissions.mock({
        authorize: async () => [allow],
        authorizeConditional: async () => {
          throw new Error('The permission backend is down');
        },
      }),
      permissionsRegistry,
    });
    await expect(control.visibilityOf(callerOf('alice'))).rejects.toThrow(
      PolicyUnavailableError,
    );
  });
});

describe('directory.access in the configuration', () => {
  const ldap = {
    servers: ['ldaps://ldap.example.test'],
    baseDn: 'dc=example,dc=test',
    bindDn: 'uid=portal,dc=example,dc=test',
    bindPassword: 'secret',
  };
  const read = (rule: object) =>
    readDirectoryConfig(
      new ConfigReader({
        directory: {
          ldap,
          access: [rule],
        },
      }),
    ).access![0];

  it('accepts entity references in any form', () => {
    const { callers } = read({
      portalUsers: ['User:Default/Guest', 'anna'],
      operations: ['directory.read'],
    });
    expect(callers.has(callerOf('guest'))).toBe(true);
    expect(callers.has(callerOf('anna'))).toBe(true);
    expect(callers.has(callerOf('bob'))).toBe(false);
  });

  it('rejects a mapping of portal users that every location may define', () => {
    const start = (kind: string) =>
      readDirectoryConfig(
        new ConfigReader({
          catalog: { rules: [{ allow: [kind] }] },
          directory: {
            ldap,
            portalUsers: { namespace: 'default', username: 'entityName' },
          },
        }),
      );
    expect(() => start('User')).toThrow('catalog.rules[0]');
    expect(() => start('Component')).not.toThrow();
  });

  it.each([
    [{ operations: ['directory.revoke'] }, '"directory.revoke"'],
    [{ portalUsers: ['group:default/a'], operations: [] }, 'group:default/a'],
    [{ portalUsers: ['user:'], operations: [] }, '"user:"'],
  ])('rejects %j', (rule, message) => {
    expect(() => read(rule)).toThrow(message);
  });
});
