import {
  createFetchApi,
  FetchMiddlewares,
  UrlPatternDiscovery,
} from '@backstage/core-app-api';
import {
  createDirectoryClient,
  paginate,
  type DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { Permission } from '@backstage/plugin-permission-common';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { guestToken, tokenByTicket } from './__testUtils__/gateway/signIn';
import {
  type Gateway,
  startGateway,
} from './__testUtils__/gateway/startGateway';

jest.setTimeout(180_000);

let realm: Realm;

beforeAll(async () => {
  realm = await startRealm();
});

afterAll(async () => {
  await realm?.stop();
});

/** What a page of the portal has: its fetch API with the user's token. */
async function signIn(gateway: Gateway): Promise<DirectoryClient> {
  const { baseUrl } = gateway;
  const response = await fetch(`${baseUrl}/api/auth/guest/refresh`, {
    headers: { 'X-Requested-With': 'XMLHttpRequest' },
  });
  const { backstageIdentity } = await response.json();
  const fetchApi = createFetchApi({
    middleware: [
      FetchMiddlewares.resolvePluginProtocol({
        discoveryApi: UrlPatternDiscovery.compile(
          `${baseUrl}/api/{{ pluginId }}`,
        ),
      }),
      FetchMiddlewares.injectIdentityAuth({
        identityApi: {
          getCredentials: async () => ({ token: backstageIdentity.token }),
          getBackstageIdentity: async () => backstageIdentity.identity,
          getProfileInfo: async () => ({}),
          signOut: async () => {},
        },
        urlPrefixAllowlist: [baseUrl],
      }),
    ],
  });
  return createDirectoryClient({
    baseUrl: 'plugin://directory/v1',
    fetch: fetchApi.fetch,
  });
}

describe.each([
  [
    'by the name of its entity',
    { namespace: 'default', username: 'entityName' },
  ],
])('a portal user who is alice %s', (_how, portalUsers) => {
  let gateway: Gateway;
  let client: DirectoryClient;

  beforeAll(async () => {
    gateway = await startGateway({ realm, directory: { portalUsers } });
    client = await signIn(gateway);
  });
  afterAll(() => gateway?.stop());

  it('has her identity', async () => {
    const { data } = await client.get('/me/');
    expect(data.result).toMatchObject({ username: 'alice' });
  });

  it('sees private profiles as she does', async () => {
    const { data } = await client.get('/users/{username}/', {
      params: { path: { username: 'bob' } },
    });
    expect(data.result).toMatchObject({ is_private: true, human_name: null });
  });

  it('walks all pages through the typed client', async () => {
    const seen = new Set<string>();
    let total = 0;
    const users = paginate(async ({ page_number, signal }) => {
      const answer = await client.get('/users/', {
        params: { query: { page_number, page_size: 60 } },
        signal,
      });
      total = answer.data.total_results;
      return answer;
    });
    for await (const { username } of users) {
      seen.add(username);
    }
    expect(seen.size).toBe(total);
    expect(total).toBeGreaterThan(150);
  });

  it('gets refusals as typed errors', async () => {
    await expect(
      client.get('/users/{username}/', {
        params: { path: { username: 'nobody' } },
      }),
    ).rejects.toMatchObject({
      name: 'DirectoryResponseError',
      status: 404,
      body: { message: 'User not found', name: 'nobody' },
    });
  });
});

describe('a portal user whom nobody mapped', () => {
  let gateway: Gateway;
  let client: DirectoryClient;

  beforeAll(async () => {
    gateway = await startGateway({ realm, guest: 'user:default/bob' });
    client = await signIn(gateway);
  });
  afterAll(() => gateway?.stop());

  it('has no identity in the directory', async () => {
    await expect(client.get('/me/')).rejects.toMatchObject({ status: 403 });
  });

  it('reads as a stranger, whatever their name', async () => {
    const { data } = await client.get('/users/{username}/', {
      params: { path: { username: 'bob' } },
    });
    expect(data.result).toMatchObject({ username: 'bob', human_name: null });
  });
});

describe('a portal user who is mapped to an account that may not call', () => {
  it.each([
    ['ghost', 'unknown_principal'],
    ['carol', 'account_locked'],
    ['eve', 'account_expired'],
  ])('refuses %s with %s', async (name, reason) => {
    const gateway = await startGateway({
      realm,
      guest: `user:default/${name}`,
      directory: {
        portalUsers: { namespace: 'default', username: 'entityName' },
      },
    });
    try {
      const client = await signIn(gateway);
      await expect(client.get('/me/')).rejects.toMatchObject({
        status: 401,
        body: { reason },
      });
    } finally {
      await gateway.stop();
    }
  });
});

describe('the permission policy of the whole portal', () => {
  const entry = 'packages/backend/src/index.ts';
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({
      realm,
      entry,
      guest: 'user:development/guest',
      kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
      policy: { administrators: ['user:default/dave'] },
    });
  });
  afterAll(() => gateway?.stop());

  /** The ids of the plugins that the portal depends on. */
  function installedPlugins(): string[] {
    const backend = resolve(__dirname, '../../../packages/backend');
    const manifest = readFileSync(join(backend, 'package.json'), 'utf8');
    const { dependencies } = JSON.parse(manifest);
    return Object.keys(dependencies)
      .filter(name => name.includes('plugin-'))
      .map(name => require(`${name}/package.json`).backstage)
      .filter(({ role }) => role === 'backend-plugin')
      .map(({ pluginId }) => pluginId);
  }

  async function api(path: string, token: string, body?: object) {
    const response = await fetch(`${gateway.baseUrl}/api/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    // The portal's pages respond to what no plugin does.
    const isJson = response.headers.get('content-type')?.includes('json');
    return response.ok && isJson ? await response.json() : undefined;
  }

  async function permissionsOf(plugin: string, token: string) {
    const path = `${plugin}/.well-known/backstage/permissions/metadata`;
    const metadata = await api(path, token);
    return (metadata?.permissions ?? []) as Permission[];
  }

  it('decides about every permission of every installed plugin', async () => {
    const tokens = {
      user: await tokenByTicket(gateway, { realm, principal: 'alice' }),
      guest: await guestToken(gateway),
      administrator: await tokenByTicket(gateway, { realm, principal: 'dave' }),
    };
    const plugins = installedPlugins();
    expect(plugins).toEqual(expect.arrayContaining(['catalog', 'directory']));
    const permissions = await Promise.all(
      plugins.map(plugin => permissionsOf(plugin, tokens.user)),
    );
    const items = permissions.flat().map(permission => ({
      id: permission.name,
      permission,
      ...(permission.type === 'resource' && {
        resourceRef: 'component:default/any',
      }),
    }));
    const allowed: Record<string, string[]> = {};
    for (const { id } of items) {
      allowed[id] = [];
    }
    for (const [who, token] of Object.entries(tokens)) {
      const decisions = await api('permission/authorize', token, { items });
      for (const { id, result } of decisions.items) {
        if (result === 'ALLOW') {
          allowed[id].push(who);
        }
      }
    }
    const everyone = ['user', 'administrator'];
    const administrators = ['administrator'];
    expect(allowed).toEqual({
      'catalog.entity.create': administrators,
      'catalog.entity.delete': administrators,
      'catalog.entity.read': everyone,
      'catalog.entity.refresh': administrators,
      'catalog.entity.validate': administrators,
      'catalog.ingestion.manage': administrators,
      'catalog.ingestion.read': administrators,
      'catalog.location.analyze': administrators,
      'catalog.location.create': administrators,
      'catalog.location.delete': administrators,
      'catalog.location.read': administrators,
      'directory.certificate.revoke': administrators,
      'directory.certificate.sign': everyone,
      'directory.members.export': administrators,
      'directory.read': everyone,
      'directory.replica.override': administrators,
    });
  });
});
