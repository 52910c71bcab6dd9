import {
  coreServices,
  createBackendModule,
  createBackendPlugin,
} from '@backstage/backend-plugin-api';
import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { Entity } from '@backstage/catalog-model';
import authPlugin from '@backstage/plugin-auth-backend';
import {
  authProvidersExtensionPoint,
  createProxyAuthenticator,
  createProxyAuthProviderFactory,
} from '@backstage/plugin-auth-node';
import { catalogServiceMock } from '@backstage/plugin-catalog-node/testUtils';
import type { JsonObject } from '@backstage/types';
import Router from 'express-promise-router';
import { authModuleDirectoryOwnership } from './ownershipModule';

const TRUSTED = 'file:/etc/portal/org.yaml';

/** Another sign-in provider, which signs in the user named in a header. */
const otherProvider = createBackendModule({
  pluginId: 'auth',
  moduleId: 'other',
  register(env) {
    env.registerInit({
      deps: { providers: authProvidersExtensionPoint },
      async init({ providers }) {
        providers.registerProvider({
          providerId: 'other',
          factory: createProxyAuthProviderFactory({
            authenticator: createProxyAuthenticator({
              defaultProfileTransform: async () => ({ profile: {} }),
              initialize() {},
              async authenticate({ req }) {
                return { result: { name: String(req.headers['x-user']) } };
              },
            }),
            signInResolver: ({ result }, context) =>
              context.signInWithCatalogUser({
                entityRef: `user:default/${result.name}`,
              }),
          }),
        });
      },
    });
  },
});

/**
 * A fake `directory` plugin with a group of alice, bob and lou, who is locked.
 */
const directory = createBackendPlugin({
  pluginId: 'directory',
  register(env) {
    env.registerInit({
      deps: { httpRouter: coreServices.httpRouter },
      async init({ httpRouter }) {
        const router = Router();
        router.get('/v1/users/:username/', (req, res) => {
          res.json({ result: { locked: req.params.username === 'lou' } });
        });
        router.get('/v1/users/:username/memberships/', (req, res) => {
          const { username } = req.params;
          if (username === 'broken') {
            res.status(503).json({ message: 'Unavailable.', request_id: 'r' });
          } else if (/^(alice|bob|lou)$/.test(username)) {
            res.json({
              result: [{ groupname: 'staff', path: ['staff'] }],
              page: 1,
              page_size: 1000,
              total_results: 1,
            });
          } else {
            const message = 'User not found';
            res.status(404).json({ message, request_id: 'r' });
          }
        });
        httpRouter.use(router);
      },
    });
  },
});

function user(name: string, annotations: Record<string, string> = {}): Entity {
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name,
      namespace: 'default',
      annotations: {
        'backstage.io/managed-by-location': TRUSTED,
        'backstage.io/managed-by-origin-location': TRUSTED,
        ...annotations,
      },
    },
    relations: [{ type: 'memberOf', targetRef: 'group:default/local' }],
  };
}

async function start(portalUsers: JsonObject | undefined) {
  const backend = await startTestBackend({
    features: [
      authPlugin,
      otherProvider,
      authModuleDirectoryOwnership,
      directory,
      catalogServiceMock.factory({
        entities: [
          user('alice'),
          user('outsider'),
          user('broken'),
          user('lou'),
          user('robert', { 'directory-gateway/username': 'bob' }),
          user('mallory', {
            'directory-gateway/username': 'bob',
            'backstage.io/managed-by-location': 'url:https://git.test/m.yaml',
          }),
        ],
      }),
      mockServices.rootConfig.factory({
        data: {
          app: { baseUrl: 'http://localhost:3000' },
          backend: { baseUrl: 'http://localhost:7007' },
          directory: { trustedLocations: [TRUSTED], portalUsers },
          auth: { providers: { other: {} } },
        },
      }),
    ],
  });
  return {
    stop: () => backend.stop(),
    async signIn(name: string) {
      const response = await fetch(
        `http://localhost:${backend.server.port()}/api/auth/other/refresh`,
        { headers: { 'x-user': name, 'X-Requested-With': 'XMLHttpRequest' } },
      );
      const body = await response.json();
      return response.ok
        ? body.backstageIdentity.identity.ownershipEntityRefs
        : response.status;
    },
  };
}

describe('authModuleDirectoryOwnership', () => {
  let portal: Awaited<ReturnType<typeof start>>;
  afterEach(() => portal.stop());

  it('adds the groups of users mapped by name', async () => {
    portal = await start({ namespace: 'default', username: 'entityName' });
    expect(await portal.signIn('alice')).toEqual([
      'user:default/alice',
      'group:default/staff',
    ]);
    // Deleted from the directory, but the entity has not been removed yet.
    expect(await portal.signIn('outsider')).toEqual(['user:default/outsider']);
    expect(await portal.signIn('lou')).toEqual(['user:default/lou']);
    expect(await portal.signIn('broken')).toBe(503);
  });

  it('adds the groups of users with a trusted annotation', async () => {
    portal = await start({ namespace: 'default', username: 'annotation' });
    expect(await portal.signIn('robert')).toEqual([
      'user:default/robert',
      'group:default/staff',
    ]);
    expect(await portal.signIn('mallory')).toEqual([
      'user:default/mallory',
      'group:default/local',
    ]);
    expect(await portal.signIn('alice')).toEqual([
      'user:default/alice',
      'group:default/local',
    ]);
  });

  it.each([undefined, { namespace: 'people', username: 'entityName' }])(
    'adds nothing for users who are not mapped (%j)',
    async portalUsers => {
      portal = await start(portalUsers);
      expect(await portal.signIn('alice')).toEqual([
        'user:default/alice',
        'group:default/local',
      ]);
    },
  );
});
