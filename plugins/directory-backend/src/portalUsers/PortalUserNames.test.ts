import { mockServices } from '@backstage/backend-test-utils';
import type { Entity } from '@backstage/catalog-model';
import { ConfigReader } from '@backstage/config';
import { catalogServiceMock } from '@backstage/plugin-catalog-node/testUtils';
import { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';
import { readDirectoryConfig } from '../config';
import { setTimeout as sleep } from 'node:timers/promises';
import { PortalUserNames, USERNAME_ANNOTATION } from './PortalUserNames';

const ORG = 'file:/etc/portal/org.yaml';
const REGISTERED = 'url:https://git.test/mallory/users.yaml';

function user(options: {
  readonly name: string;
  readonly username: string;
  readonly namespace?: string;
  readonly location?: string;
}): Entity {
  const { name, username, namespace = 'default', location = ORG } = options;
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name,
      namespace,
      annotations: {
        [USERNAME_ANNOTATION]: username,
        'backstage.io/managed-by-location': location,
        'backstage.io/managed-by-origin-location': location,
      },
    },
    spec: {},
  };
}

describe('PortalUserNames', () => {
  const entities = [
    user({ name: 'karl', username: 'karlp' }),
    user({ name: 'other', username: 'karlp', namespace: 'elsewhere' }),
    user({ name: 'alice', username: 'alice' }),
    user({ name: 'mallory', username: 'alice', location: REGISTERED }),
    user({ name: 'twin1', username: 'shared' }),
    user({ name: 'twin2', username: 'Shared' }),
  ];
  const logger = mockServices.logger.mock();
  const namesBy = (
    username: 'entityName' | 'annotation' | undefined,
    catalog = catalogServiceMock({ entities }),
  ) =>
    new PortalUserNames({
      config: username && { namespace: 'default', username },
      trustedLocations: TrustedLocations.fromConfig(
        new ConfigReader({ directory: { trustedLocations: [ORG] } }),
      ),
      auth: mockServices.auth(),
      catalog,
      logger,
    });

  it.each([
    ['entityName', 'karlp', ['user:default/karlp']],
    ['entityName', 'KarlP', ['user:default/karlp']],
    ['entityName', 'a b', []],
    ['entityName', 'host$', []],
    ['annotation', 'karlp', ['user:default/karl']],
    ['annotation', 'alice', ['user:default/alice']],
    ['annotation', 'shared', []],
    ['annotation', 'nobody', []],
    [undefined, 'alice', []],
  ] as const)(
    'entityRefsOf by %s maps %s to %j',
    async (by, username, refs) => {
      expect(await namesBy(by).entityRefsOf(username)).toEqual(refs);
    },
  );

  it.each(['entityName', 'annotation'] as const)(
    'usernameOf is the inverse of entityRefsOf by %s',
    async by => {
      const names = namesBy(by);
      const [userEntityRef] = await names.entityRefsOf('alice');
      expect(await names.usernameOf({ type: 'user', userEntityRef })).toBe(
        'alice',
      );
    },
  );

  it('ignores annotations of entities from other locations', async () => {
    expect(
      await namesBy('annotation').usernameOf({
        type: 'user',
        userEntityRef: 'user:default/mallory',
      }),
    ).toBeUndefined();
  });

  it.each(['twin1', 'twin2'])(
    'rejects %s because another trusted user has the same annotation',
    async name => {
      await expect(
        namesBy('annotation').usernameOf({
          type: 'user',
          userEntityRef: `user:default/${name}`,
        }),
      ).rejects.toMatchObject({ name: 'AmbiguousPortalUserError' });
      expect(logger.warn).toHaveBeenLastCalledWith(
        expect.stringContaining('user:default/twin1, user:default/twin2'),
      );
    },
  );

  describe('usernameOf by annotation', () => {
    let now: number;

    beforeEach(() => {
      now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => now);
    });
    afterEach(() => jest.restoreAllMocks());

    it('reads an annotation again after 4 seconds', async () => {
      const catalog = catalogServiceMock({ entities });
      const getEntityByRef = jest.spyOn(catalog, 'getEntityByRef');
      const getEntities = jest.spyOn(catalog, 'getEntities');
      const names = namesBy('annotation', catalog);
      const usernameAfter = async (ms: number) => {
        now += ms;
        // The cache reads the clock once per millisecond of real time.
        await sleep(10);
        return await names.usernameOf({
          type: 'user',
          userEntityRef: 'user:default/karl',
        });
      };
      expect(await usernameAfter(0)).toBe('karlp');
      expect(await usernameAfter(3900)).toBe('karlp');
      expect(getEntityByRef).toHaveBeenCalledTimes(1);
      expect(getEntities).toHaveBeenCalledTimes(1);
      getEntityByRef.mockResolvedValue(undefined);
      expect(await usernameAfter(200)).toBeUndefined();
    });

    it('warns once about an annotation that two users have', async () => {
      logger.warn.mockClear();
      const names = namesBy('annotation');
      for (let call = 0; call < 3; call += 1) {
        await expect(
          names.usernameOf({
            type: 'user',
            userEntityRef: 'user:default/twin1',
          }),
        ).rejects.toMatchObject({ name: 'AmbiguousPortalUserError' });
      }
      expect(logger.warn).toHaveBeenCalledTimes(1);
    });
  });

  it('requires trusted locations for a mapping by annotation', () => {
    const read = (trustedLocations: string[], allow: string[]) =>
      readDirectoryConfig(
        new ConfigReader({
          catalog: { rules: [{ allow }] },
          directory: {
            ldap: {
              servers: ['ldaps://ipa.test'],
              baseDn: 'dc=example,dc=test',
              bindDn: 'uid=portal',
              bindPassword: 'x',
              caFile: '/etc/ipa/ca.crt',
            },
            trustedLocations,
            portalUsers: { namespace: 'default', username: 'annotation' },
          },
        }),
      );
    expect(() => read([], ['Component'])).toThrow(
      /directory\.portalUsers\.username.*directory\.trustedLocations/,
    );
    expect(() => read([ORG], ['Component', 'user'])).toThrow(
      /directory\.portalUsers\.username.*catalog\.rules\[0\].*directory\.trustedLocations/,
    );
    expect(read([ORG], ['Component']).trustedLocations.isEmpty).toBe(false);
  });
});
