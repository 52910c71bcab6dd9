/** @jest-environment node */
import { createFetchApi, FetchMiddlewares } from '@backstage/core-app-api';
import { createDirectoryClient } from './createDirectoryClient';
import { RecordingServer } from './__testUtils__/RecordingServer';

let server: RecordingServer;

beforeAll(async () => {
  server = await RecordingServer.start();
});

afterAll(() => server.stop());

describe("Backstage's fetch API", () => {
  it('resolves plugin:// and adds credentials to requests with and without a body', async () => {
    const { origin } = new URL(server.baseUrl);
    const { fetch } = createFetchApi({
      middleware: [
        FetchMiddlewares.resolvePluginProtocol({
          discoveryApi: {
            getBaseUrl: async pluginId => `${origin}/api/${pluginId}`,
          },
        }),
        FetchMiddlewares.injectIdentityAuth({
          identityApi: {
            getCredentials: async () => ({ token: 'alices-token' }),
            getBackstageIdentity: () => Promise.reject(new Error('Not used')),
            getProfileInfo: () => Promise.reject(new Error('Not used')),
            signOut: () => Promise.reject(new Error('Not used')),
          },
          urlPrefixAllowlist: [origin],
        }),
      ],
    });
    const client = createDirectoryClient({
      baseUrl: 'plugin://directory/v1',
      fetch,
    });

    server.respond = () => ({ body: '{"result":{"serial_number":12}}' });
    const body = { user: 'alice', csr: 'PEM' };
    await client.post('/certs/', { body });
    server.respond = () => ({ body: '{"result":{"username":"alice"}}' });
    await client.get('/me/', {
      params: { header: { 'X-Fields': 'username' } },
    });

    const authorization = 'Bearer alices-token';
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: '/api/directory/v1/certs/',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      {
        method: 'GET',
        target: '/api/directory/v1/me/',
        headers: { authorization, 'x-fields': 'username' },
        body: '',
      },
    ]);
  });
});
