import { mockServices } from '@backstage/backend-test-utils';
import type { Entity } from '@backstage/catalog-model';
import { catalogServiceMock } from '@backstage/plugin-catalog-node/testUtils';
import type { PortalUsersConfig } from '../config';
import { PortalUserNames, USERNAME_ANNOTATION } from './PortalUserNames';

function user(name: string, username: string, namespace = 'default'): Entity {
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      ...{ name, namespace },
      annotations: { [USERNAME_ANNOTATION]: username },
    },
    spec: {},
  };
}

describe('PortalUserNames', () => {
  const entities = [
    user('karl', 'karlp'),
    user('other', 'karlp', 'elsewhere'),
    user('alice', 'alice'),
  ];
  const namesBy = (username: PortalUsersConfig['username'] | undefined) =>
    new PortalUserNames({
      config: username && { namespace: 'default', username },
      auth: mockServices.auth(),
      catalog: catalogServiceMock({ entities }),
    });

  it.each([
    ['entityName', 'karlp', ['user:default/karlp']],
    ['entityName', 'KarlP', ['user:default/karlp']],
    ['entityName', 'a b', []],
    ['entityName', 'host$', []],
    ['annotation', 'karlp', ['user:default/karl']],
    ['annotation', 'nobody', []],
    [undefined, 'alice', []],
  ] as const)('by %s knows %s as %j', async (by, username, refs) => {
    expect(await namesBy(by).entityRefsOf(username)).toEqual(refs);
  });

  it.each(['entityName', 'annotation'] as const)(
    'goes both ways by %s',
    async by => {
      const names = namesBy(by);
      const [userEntityRef] = await names.entityRefsOf('alice');
      expect(await names.usernameOf({ type: 'user', userEntityRef })).toBe(
        'alice',
      );
    },
  );
});
