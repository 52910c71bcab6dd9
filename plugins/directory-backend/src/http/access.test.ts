import type {
  BackstageCredentials,
  BackstageUserPrincipal,
  PermissionsServiceRequestOptions,
} from '@backstage/backend-plugin-api';
import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import {
  directoryCertificateRevokePermission,
  directoryCertificateSignPermission,
  directoryPermissions,
  directoryReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { eventually } from '../__testUtils__/eventually';
import { holder, person } from '../__testUtils__/people';
import { PrincipalSet } from '../directory/PrincipalSet';
import { AccessControl } from './access';

function userOf(options: PermissionsServiceRequestOptions): string {
  const { credentials } = options as { credentials: BackstageCredentials };
  const { userEntityRef } = credentials.principal as BackstageUserPrincipal;
  return userEntityRef;
}

/** A permission framework that counts and answers by entity reference. */
function counting(
  decide: (user: string) => AuthorizeResult.ALLOW | AuthorizeResult.DENY,
  readingHoldsMs?: number,
) {
  const asked: string[] = [];
  const permissions = mockServices.permissions.mock({
    async authorize([{ permission }], options) {
      asked.push(permission.name);
      return [{ result: decide(userOf(options)) }];
    },
  });
  return { asked, control: new AccessControl({ permissions, readingHoldsMs }) };
}

const callerOf = (name: string) =>
  ({
    kind: 'portalUser',
    credentials: mockCredentials.user(`user:default/${name}`),
  } as const);

it('asks about reading once in a while for each user', async () => {
  const { asked, control } = counting(user =>
    user.endsWith('bob') ? AuthorizeResult.DENY : AuthorizeResult.ALLOW,
  );
  for (let round = 0; round < 3; round++) {
    await control.require(callerOf('alice'), directoryReadPermission);
    await expect(
      control.require(callerOf('bob'), directoryReadPermission),
    ).rejects.toThrow('You may not do this.');
  }
  expect(asked).toHaveLength(2);
});

it('hears of another decision about reading', async () => {
  let result: AuthorizeResult.ALLOW | AuthorizeResult.DENY =
    AuthorizeResult.ALLOW;
  const { control } = counting(() => result, 50);
  await control.require(callerOf('alice'), directoryReadPermission);
  result = AuthorizeResult.DENY;
  await eventually(() =>
    expect(
      control.require(callerOf('alice'), directoryReadPermission),
    ).rejects.toThrow('You may not do this.'),
  );
});

it('asks about everything else each time', async () => {
  const { asked, control } = counting(() => AuthorizeResult.ALLOW);
  for (let round = 0; round < 3; round++) {
    await control.require(
      callerOf('alice'),
      directoryCertificateSignPermission,
    );
  }
  expect(asked).toHaveLength(3);
});

it('takes no failure for a decision', async () => {
  let isAway = true;
  const { control } = counting(() => {
    if (isAway) {
      throw new Error('The permission backend is away');
    }
    return AuthorizeResult.ALLOW;
  });
  const ask = () => control.require(callerOf('alice'), directoryReadPermission);
  await expect(ask()).rejects.toThrow('away');
  isAway = false;
  await expect(ask()).resolves.toBeUndefined();
});

it('lets holders of a ticket do what the contract offers, and revoke by a rule only', async () => {
  const permissions = mockServices.permissions.mock();
  const revoking = new PrincipalSet({ principals: ['dave'] });
  const operations = new Set([directoryCertificateRevokePermission.name]);
  const mayDo = async (
    name: string,
    rules?: [{ who: PrincipalSet; operations: Set<string> }],
  ) => {
    const control = new AccessControl({ permissions, rules });
    const asked = directoryPermissions.map(permission =>
      control.require(holder(person(name)), permission).then(
        () => [permission.name],
        () => [],
      ),
    );
    return (await Promise.all(asked)).flat();
  };
  const offered = ['directory.read', 'directory.certificate.sign'];
  expect(await mayDo('dave')).toEqual(offered);
  expect(await mayDo('dave', [{ who: revoking, operations }])).toEqual([
    'directory.certificate.revoke',
  ]);
  expect(await mayDo('alice', [{ who: revoking, operations }])).toEqual([]);
});
