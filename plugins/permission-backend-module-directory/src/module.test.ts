import { createBackend } from '@backstage/backend-defaults';
import { createBackendModule } from '@backstage/backend-plugin-api';
import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import authPlugin from '@backstage/plugin-auth-backend';
import guestProvider from '@backstage/plugin-auth-backend-module-guest-provider';
import {
  authProvidersExtensionPoint,
  createProxyAuthenticator,
  createProxyAuthProviderFactory,
} from '@backstage/plugin-auth-node';
import catalogPlugin from '@backstage/plugin-catalog-backend';
import { catalogProcessingExtensionPoint } from '@backstage/plugin-catalog-node';
import permissionPlugin from '@backstage/plugin-permission-backend';
import searchPlugin from '@backstage/plugin-search-backend';
import searchCatalog from '@backstage/plugin-search-backend-module-catalog';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import type { JsonObject } from '@backstage/types';
import { freePorts } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DirectoryPermissionPolicy } from './DirectoryPermissionPolicy';
import { permissionModuleDirectory } from './module';

jest.setTimeout(600_000);

/**
 * Issues a portal token for the headers `X-User: bob` and `X-Groups:
 * staff,admins`.
 */
const signInByHeader = createBackendModule({
  pluginId: 'auth',
  moduleId: 'header',
  register(env) {
    env.registerInit({
      deps: { providers: authProvidersExtensionPoint },
      async init({ providers }) {
        providers.registerProvider({
          providerId: 'header',
          factory: createProxyAuthProviderFactory({
            authenticator: createProxyAuthenticator({
              defaultProfileTransform: async () => ({ profile: {} }),
              initialize: () => undefined,
              authenticate: async ({ req }) => ({
                result: {
                  user: `user:default/${req.get('X-User')}`,
                  groups: (req.get('X-Groups') ?? '')
                    .split(',')
                    .filter(Boolean)
                    .map(name => `group:default/${name}`),
                },
              }),
            }),
            signInResolver: async ({ result: { user, groups } }, context) =>
              context.issueToken({
                claims: { sub: user, ent: [user, ...groups] },
              }),
          }),
        });
      },
    });
  },
});

function entity(kind: string, name: string, spec: JsonObject) {
  const location = 'url:https://git.example.test/org.yaml';
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind,
    metadata: {
      name,
      annotations: {
        'backstage.io/managed-by-location': location,
        'backstage.io/managed-by-origin-location': location,
      },
    },
    spec,
  };
}

const ENTITIES = [
  entity('User', 'alice', { memberOf: ['staff'] }),
  entity('Group', 'staff', { type: 'team', children: [] }),
  entity('Component', 'website', {
    type: 'website',
    lifecycle: 'production',
    owner: 'staff',
  }),
];
const ALL = [
  'component:default/website',
  'group:default/staff',
  'user:default/alice',
];
const WITHOUT_PEOPLE = ['component:default/website'];

const someEntities = createBackendModule({
  pluginId: 'catalog',
  moduleId: 'some-entities',
  register(env) {
    env.registerInit({
      deps: { processing: catalogProcessingExtensionPoint },
      async init({ processing }) {
        processing.addEntityProvider({
          getProviderName: () => 'some-entities',
          connect: connection =>
            connection.applyMutation({
              type: 'full',
              entities: ENTITIES.map(value => ({ entity: value })),
            }),
        });
      },
    });
  },
});

/** Number of reads of the search index until it must have all entities. */
const MAX_ATTEMPTS = 1000;

/** Service token. */
const SERVICE = 'service-service-service';

/** A portal over HTTP. */
class TestPortal {
  readonly #backend: ReturnType<typeof createBackend>;
  readonly #url: string;

  static async start(permission: JsonObject): Promise<TestPortal> {
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const backend = createBackend();
    const data = {
      app: { baseUrl: url },
      backend: {
        baseUrl: url,
        listen: { host: '127.0.0.1', port },
        database: { client: 'better-sqlite3', connection: ':memory:' },
        auth: {
          externalAccess: [
            { type: 'static', options: { token: SERVICE, subject: 'service' } },
          ],
        },
      },
      auth: {
        providers: {
          header: {},
          guest: { dangerouslyAllowOutsideDevelopment: true },
        },
      },
      permission,
      search: {
        collators: {
          catalog: {
            schedule: {
              frequency: { milliseconds: 200 },
              timeout: { minutes: 1 },
              // Starts on time; the scheduler starts others every five seconds.
              scope: 'local',
            },
          },
        },
      },
    };
    backend.add(mockServices.rootConfig.factory({ data }));
    backend.add(mockServices.rootLogger.factory({ level: 'none' }));
    backend.add(authPlugin);
    backend.add(guestProvider);
    backend.add(signInByHeader);
    backend.add(catalogPlugin);
    backend.add(someEntities);
    backend.add(permissionPlugin);
    backend.add(permissionModuleDirectory);
    backend.add(searchPlugin);
    backend.add(searchCatalog);
    await backend.start();
    return new TestPortal(backend, url);
  }

  private constructor(backend: ReturnType<typeof createBackend>, url: string) {
    this.#backend = backend;
    this.#url = url;
  }

  /** Returns a portal token. */
  async token(user: string, groups = ''): Promise<string> {
    const provider = user === 'guest' ? 'guest' : 'header';
    const response = await fetch(`${this.#url}/api/auth/${provider}/refresh`, {
      headers: {
        'X-Requested-With': 'XMLHttpRequest',
        'X-User': user,
        'X-Groups': groups,
      },
    });
    const { backstageIdentity } = await response.json();
    return backstageIdentity.token;
  }

  /**
   * Sends a request, POST if it has a body. Returns the status and the JSON of
   * the response.
   */
  async request(
    path: string,
    token: string,
    body?: JsonObject,
    method = body ? 'POST' : 'GET',
  ) {
    const response = await fetch(`${this.#url}/api${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text) };
  }

  async stop(): Promise<void> {
    await this.#backend.stop();
  }
}

interface Found {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const refsOf = (entities: readonly Found[]) =>
  entities
    .map(found => `${found.kind.toLowerCase()}:default/${found.metadata.name}`)
    .sort();

/** Routes that read entities. Each returns the references of the entities. */
const READS: Record<
  string,
  (portal: TestPortal, token: string) => Promise<readonly string[]>
> = {
  async 'GET /entities'(portal, token) {
    const { body } = await portal.request('/catalog/entities', token);
    return refsOf(body);
  },
  async 'action query-catalog-entities'(portal, token) {
    const path =
      '/catalog/.backstage/actions/v1/actions/catalog:query-catalog-entities/invoke';
    const { body } = await portal.request(path, token, {});
    return refsOf(body.output.items);
  },
  async search(portal, token) {
    const { body } = await portal.request('/search/query?term=', token);
    return body.results
      .map(
        ({ document }: { document: { kind: string; location: string } }) =>
          `${document.kind.toLowerCase()}:default/${document.location
            .split('/')
            .at(-1)}`,
      )
      .sort();
  },
};

describe('permissionModuleDirectory', () => {
  const tokens: Record<string, string> = {};
  let portal: TestPortal;

  beforeAll(async () => {
    portal = await TestPortal.start({
      enabled: true,
      directory: {
        administrators: ['User:Default/Root', 'group:portal-admins'],
        rules: [
          { permissions: ['directory.read'], allow: ['group:default/staff'] },
          { permissions: ['example.run'], allow: ['everyone'] },
          { permissions: ['example.stop'], allow: [] },
        ],
      },
    });
    tokens.reader = await portal.token('alice', 'staff');
    tokens.user = await portal.token('bob', 'visitors');
    tokens.administrator = await portal.token('root');
    tokens.deputy = await portal.token('carol', 'portal-admins');
    tokens.guest = await portal.token('guest');
    // The catalog and the search index are updated in the background.
    const indexed = async () => {
      const { body } = await portal.request('/search/query?term=', SERVICE);
      return body.results?.length;
    };
    for (let attempt = 1; (await indexed()) !== ALL.length; attempt++) {
      if (attempt === MAX_ATTEMPTS) {
        throw new Error(
          `The search index has ${await indexed()} of ${ALL.length} entities`,
        );
      }
      await sleep(100);
    }
  });
  afterAll(() => portal?.stop());

  /** Returns a value for each kind of user. */
  async function byUser<T>(
    valueOf: (token: string) => Promise<T>,
  ): Promise<Record<string, T>> {
    const values: Record<string, T> = {};
    for (const [user, token] of Object.entries(tokens)) {
      values[user] = await valueOf(token);
    }
    return values;
  }

  it.each(Object.entries(READS))(
    '%s returns users and groups only with directory.read',
    async (_name, read) => {
      expect(await byUser(token => read(portal, token))).toEqual({
        reader: ALL,
        user: WITHOUT_PEOPLE,
        administrator: ALL,
        deputy: ALL,
        guest: [],
      });
    },
  );

  const action = (id: string) =>
    `/catalog/.backstage/actions/v1/actions/catalog:${id}/invoke`;
  const target = 'https://git.example.test/new.yaml';
  it.each([
    ['/catalog/locations', 201, 403, { type: 'url', target }],
    [
      '/catalog/analyze-location',
      200,
      403,
      { location: { type: 'url', target } },
    ],
    [
      '/catalog/validate-entity',
      200,
      403,
      { entity: ENTITIES[0], location: `url:${target}` },
    ],
    ['/catalog/refresh', 200, 403, { entityRef: WITHOUT_PEOPLE[0] }],
    [
      action('register-entity'),
      200,
      403,
      { locationUrl: 'https://git.example.test/other.yaml' },
    ],
    // Locations are invisible to other users.
    [action('unregister-entity'), 200, 404, { type: { locationUrl: target } }],
  ])(
    'POST %s returns %d to administrators and %d to other users',
    async (path, allowed, denied, body) => {
      const { reader, user, guest, administrator } = await byUser(
        async token => (await portal.request(path, token, body)).status,
      );
      expect({ reader, user, guest }).toEqual({
        reader: denied,
        user: denied,
        guest: denied,
      });
      expect(administrator).toBe(allowed);
    },
  );

  it('denies permissions that neither the policy nor a rule names', async () => {
    const names = [
      'directory.read',
      'directory.certificate.sign',
      'directory.certificate.revoke',
      'example.run',
      'example.stop',
      'example.other',
      '__proto__',
    ];
    const items = names.map(name => ({
      id: name,
      permission: { type: 'basic', name, attributes: {} },
    }));
    const allowed = await byUser(async token => {
      const path = '/permission/authorize';
      const { body } = await portal.request(path, token, { items });
      return body.items.flatMap(
        ({ id, result }: { id: string; result: string }) =>
          result === 'ALLOW' ? [id] : [],
      );
    });
    expect(allowed).toEqual({
      reader: ['directory.read', 'directory.certificate.sign', 'example.run'],
      user: ['directory.certificate.sign', 'example.run'],
      administrator: names.slice(0, 5),
      deputy: names.slice(0, 5),
      guest: [],
    });
  });

  it('lets only administrators delete entities', async () => {
    const query = '/catalog/entities/by-query?filter=kind=component';
    const { body } = await portal.request(query, tokens.user);
    const path = `/catalog/entities/by-uid/${body.items[0].metadata.uid}`;
    const statuses = await byUser(
      async token =>
        (await portal.request(path, token, undefined, 'DELETE')).status,
    );
    expect(statuses).toEqual({
      reader: 403,
      user: 403,
      administrator: 204,
      deputy: 204,
      guest: 403,
    });
  });
});

describe('DirectoryPermissionPolicy', () => {
  const USER = {
    type: 'resource',
    name: 'catalog.entity.read',
    attributes: { action: 'read' },
    resourceType: 'catalog-entity',
  } as const;

  /** Returns the decision on `catalog.entity.read` for alice. */
  async function decide(data: JsonObject): Promise<AuthorizeResult> {
    const policy = DirectoryPermissionPolicy.fromConfig(
      new ConfigReader({ permission: { enabled: true }, ...data }),
    );
    const { result } = await policy.handle(
      { permission: USER },
      {
        credentials: mockCredentials.user('user:default/alice'),
        info: {
          userEntityRef: 'user:default/alice',
          ownershipEntityRefs: ['user:default/alice'],
        },
      },
    );
    return result;
  }

  const PRINCIPALS = { principals: ['*'], operations: ['directory.read'] };
  const PORTAL_USERS = { portalUsers: ['*'], operations: ['directory.read'] };
  const BY_NAME = { namespace: 'default', username: 'entityName' };
  const BY_ANNOTATION = { namespace: 'default', username: 'annotation' };

  it('denies requests without a user', async () => {
    const policy = DirectoryPermissionPolicy.fromConfig(
      new ConfigReader({ permission: { enabled: true } }),
    );
    expect(await policy.handle({ permission: USER })).toEqual({
      result: AuthorizeResult.DENY,
    });
  });

  it('denies the user that the guest provider signs in, unless configured', async () => {
    const auth = {
      providers: { guest: { userEntityRef: 'user:default/Alice' } },
    };
    const directory = { dangerouslyAllowGuests: true };
    expect(await decide({})).toBe(AuthorizeResult.ALLOW);
    expect(await decide({ auth })).toBe(AuthorizeResult.DENY);
    expect(
      await decide({ auth, permission: { enabled: true, directory } }),
    ).toBe(AuthorizeResult.ALLOW);
  });

  it.each([
    [[PRINCIPALS], undefined, 'CONDITIONAL'],
    [[PORTAL_USERS], undefined, 'ALLOW'],
    [[PRINCIPALS], BY_NAME, 'ALLOW'],
    [[PORTAL_USERS], BY_NAME, 'CONDITIONAL'],
    [[PRINCIPALS], { ...BY_NAME, namespace: 'other' }, 'CONDITIONAL'],
    [[PRINCIPALS], BY_ANNOTATION, 'CONDITIONAL'],
    [[PRINCIPALS, PORTAL_USERS], BY_ANNOTATION, 'ALLOW'],
    [
      [{ groups: ['staff'], operations: ['directory.read'] }],
      BY_NAME,
      'CONDITIONAL',
    ],
    [[{ principals: ['*'], operations: [] }], BY_NAME, 'CONDITIONAL'],
    [[], BY_NAME, 'CONDITIONAL'],
    [undefined, undefined, 'ALLOW'],
  ])('follows directory.access %j with %j', async (...row) => {
    const [access, portalUsers, expected] = row;
    expect(await decide({ directory: { access, portalUsers } })).toBe(expected);
  });

  it('prefers a rule for directory.read to directory.access', async () => {
    const rules = [{ permissions: ['directory.read'], allow: ['everyone'] }];
    const permission = { enabled: true, directory: { rules } };
    const result = await decide({ permission, directory: { access: [] } });
    expect(result).toBe(AuthorizeResult.ALLOW);
  });

  it.each([
    [{ enabled: false }, 'permission.enabled'],
    [
      { enabled: true, directory: { administrators: ['alice'] } },
      'permission.directory.administrators',
    ],
    [
      { enabled: true, directory: { administrators: ['everyone'] } },
      'permission.directory.administrators',
    ],
    [
      {
        enabled: true,
        directory: {
          rules: [{ permissions: [], allow: ['component:default/x'] }],
        },
      },
      'permission.directory.rules[0].allow',
    ],
  ])('refuses to start with permission %j', (permission, key) => {
    expect(() =>
      DirectoryPermissionPolicy.fromConfig(new ConfigReader({ permission })),
    ).toThrow(key);
  });
});
