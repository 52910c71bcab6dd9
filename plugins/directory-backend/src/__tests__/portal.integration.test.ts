import {
  createFetchApi,
  FetchMiddlewares,
  UrlPatternDiscovery,
} from '@backstage/core-app-api';
import type { Permission } from '@backstage/plugin-permission-common';
import {
  createDirectoryClient,
  paginate,
  type DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import {
  issuerFiles,
  revocationListPath,
} from '../__testUtils__/certificates/issuerFiles';
import { exportForAll } from '../__testUtils__/gateway/directoryConfig';
import { guestToken, tokenByTicket } from '../__testUtils__/gateway/signIn';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

/** URL of the portal in the documents. */
const PORTAL = 'https://portal.example.org';
/** Path of the CRL in the document; the issuer of the test has another id. */
const CRL_PATH = '/ca/95f0e44b72f64afe/crl';

let realm: Realm;
const documentsCa = () =>
  issuerFiles({ folder: realm.dir, name: 'documents-ca' });

beforeAll(async () => {
  realm = await startRealm();
});

afterAll(async () => {
  await realm?.stop();
});

describe('the whole portal', () => {
  let gateway: Gateway;
  let folder: string;

  beforeAll(async () => {
    gateway = await startGateway({
      realm,
      entry: 'portal',
      guest: 'user:development/guest',
      kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
      policy: { administrators: ['user:default/dave'] },
      directory: {
        access: exportForAll,
        certificates: {
          authority: 'embedded',
          profiles: [
            { name: 'userCerts', purpose: 'Signing in to web services' },
          ],
          embedded: {
            organization: realm.realm,
            ...documentsCa(),
          },
        },
      },
    });
    folder = await mkdtemp(join(tmpdir(), 'documents-'));
  });
  afterAll(async () => {
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a command from the documentation as alice. */
  async function run(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)(
      'bash',
      [
        '-c',
        command
          .replaceAll(PORTAL, gateway.baseUrl)
          .replaceAll(CRL_PATH, revocationListPath(documentsCa())),
      ],
      {
        cwd: folder,
        env: {
          ...process.env,
          KRB5_CONFIG: realm.krb5Config,
          KRB5CCNAME: await realm.ticket('alice'),
        },
      },
    );
    return stdout
      .replaceAll('\r', '')
      .replaceAll(gateway.baseUrl, PORTAL)
      .trim();
  }

  const examples = readExamples(
    readFileSync(resolve(__dirname, '../../../../docs/api.md'), 'utf8'),
  );

  it('has examples in docs/api.md', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it.each(examples.map(example => [example.line, example] as const))(
    'prints the output of the example in docs/api.md, line %i',
    async (_line, { command, printed }) => {
      const text = await run(command);
      const isJson = printed?.language === 'json';
      expect(isJson ? JSON.parse(text) : text).toEqual(
        isJson ? expected(JSON.parse(printed.text)) : (printed?.text ?? text),
      );
    },
  );
  /** The ids of the plugins that the portal depends on. */
  function installedPlugins(): string[] {
    const backend = resolve(__dirname, '../../../../packages/backend');
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
    // The portal's pages handle paths that no plugin handles.
    const isJson = response.headers.get('content-type')?.includes('json');
    return response.ok && isJson ? await response.json() : undefined;
  }

  async function permissionsOf(plugin: string, token: string) {
    const path = `${plugin}/.well-known/backstage/permissions/metadata`;
    const metadata = await api(path, token);
    return (metadata?.permissions ?? []) as Permission[];
  }

  it('decides on every permission of every installed plugin', async () => {
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
      'directory.group.read': everyone,
      'directory.history.read': administrators,
      'directory.members.export': administrators,
      'directory.read': everyone,
      'directory.replica.override': administrators,
      'directory.user.read': everyone,
    });
  });
});

describe('a portal user who is mapped to erin', () => {
  let gateway: Gateway;
  let client: DirectoryClient;

  beforeAll(async () => {
    gateway = await startGateway({
      realm,
      guest: 'user:default/erin',
      directory: {
        portalUsers: { namespace: 'default', username: 'entityName' },
      },
    });
    client = await signIn(gateway);
  });
  afterAll(() => gateway?.stop());

  it('is erin in the directory', async () => {
    const { data } = await client.get('/me/');
    expect(data.result).toMatchObject({ username: 'erin' });
  });

  it('sees private profiles as erin does', async () => {
    const { data } = await client.get('/users/{username}/', {
      params: { path: { username: 'bob' } },
    });
    expect(data.result).toMatchObject({ is_private: true, human_name: null });
  });

  it('reads all pages with the typed client', async () => {
    const seen = new Set<string>();
    let total = 0;
    const all = paginate(async ({ page_number, signal }) => {
      const users = await client.get('/users/', {
        params: { query: { page_number, page_size: 60 } },
        signal,
      });
      total = users.data.total_results;
      return users;
    });
    for await (const { username } of all) {
      seen.add(username);
    }
    expect(seen.size).toBe(total);
    expect(total).toBeGreaterThan(150);
  });

  it('receives typed errors', async () => {
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

  // Last: each changes the entry of erin.
  const modify = (changes: string) => `changetype: modify\n${changes}\n`;
  it.each([
    ['account_locked', modify('replace: nsAccountLock\nnsAccountLock: TRUE')],
    [
      'account_expired',
      modify(
        'replace: nsAccountLock\nnsAccountLock: FALSE\n-\nreplace: krbPrincipalExpiration\nkrbPrincipalExpiration: 20200101000000Z',
      ),
    ],
    ['unknown_principal', 'changetype: delete\n'],
  ])('is denied with %s after a change', async (reason, change) => {
    await realm.modify(`dn: ${userDn('erin')}\n${change}`);
    await eventually(async () => {
      await expect(client.get('/me/')).rejects.toMatchObject({
        status: 401,
        body: { reason },
      });
    });
  });
});

describe('a portal user who is not mapped', () => {
  let gateway: Gateway;
  let client: DirectoryClient;

  beforeAll(async () => {
    gateway = await startGateway({ realm, guest: 'user:default/bob' });
    client = await signIn(gateway);
  });
  afterAll(() => gateway?.stop());

  it('is not a user of the directory', async () => {
    await expect(client.get('/me/')).rejects.toMatchObject({ status: 403 });
  });

  it('does not see the private profile of the same name', async () => {
    const { data } = await client.get('/users/{username}/', {
      params: { path: { username: 'bob' } },
    });
    expect(data.result).toMatchObject({ username: 'bob', human_name: null });
  });
});

/** Returns the client of the portal's pages, with the guest's token. */
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

/** A command of a document and its documented output. */
interface Example {
  readonly command: string;
  /** The line on which the command begins, from 1. */
  readonly line: number;
  readonly printed?: {
    /** `json`, `csv` or `text`. */
    readonly language: string;
    readonly text: string;
  };
}

/**
 * The commands of a Markdown document: blocks of the language `sh`, each with
 * the block after it unless that is another command.
 */
function readExamples(document: string): readonly Example[] {
  const blocks = [...document.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(
    match => ({
      language: match[1],
      text: match[2].trimEnd(),
      line: document.slice(0, match.index).split('\n').length + 1,
    }),
  );
  return blocks.flatMap(({ language, text, line }, index) => {
    const next = blocks.at(index + 1);
    const hasOutput = next && !['sh', 'console'].includes(next.language);
    return language === 'sh'
      ? [{ command: text, line, ...(hasOutput && { printed: next }) }]
      : [];
  });
}

/** The output in a document, where `…` is any value. */
function expected(value: unknown): unknown {
  if (value === '…') {
    return expect.anything();
  }
  if (Array.isArray(value)) {
    return value.map(expected);
  }
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(
        Object.entries(value).map(([key, of]) => [key, expected(of)]),
      )
    : value;
}
