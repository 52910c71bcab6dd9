import SwaggerParser from '@apidevtools/swagger-parser';
import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { startRealm, type Realm } from '@directory-gateway/realm';
import type { OpenAPI } from 'openapi-types';
import { startGateway, type Gateway } from './__testUtils__/gateway/startGateway';

jest.setTimeout(180_000);

let realm: Realm;
let gateway: Gateway;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({ realm });
});
afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Somebody without a ticket or a token. */
const ask = (path: string, init?: RequestInit) =>
  fetch(`${gateway.baseUrl}/api/directory${path}`, init);

it.each(['', '/'])('lists the versions of the API at "%s"', async path => {
  const root = `${gateway.baseUrl}/api/directory`;
  const answer = await ask(path);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    message: 'Welcome to the directory gateway',
    apis: [
      {
        version: 1,
        uri: `${root}/v1/`,
        specs: `${root}/specs/v1.json`,
        docs: `${root}/docs/v1/`,
      },
    ],
  });
});

it('serves the contract', async () => {
  const document = await (await ask('/specs/v1.json')).json();
  expect(document).toEqual({
    ...openApiDocument,
    servers: [{ url: '/api/directory/v1' }],
  });
  await expect(
    SwaggerParser.validate(document as OpenAPI.Document),
  ).resolves.toBeDefined();
});

it('serves the explorer and its files, which browsers may keep', async () => {
  const page = await ask('/docs/v1/');
  expect(page.headers.get('content-type')).toMatch('text/html');
  const script = await ask('/docs/v1/explorer.js');
  expect(script.headers.get('content-type')).toMatch('text/javascript');
  const bundle = await ask('/docs/v1/swagger-ui-bundle.js', { method: 'HEAD' });
  expect(bundle.headers.get('etag')).toMatch(/^(W\/)?"/);
});

it('needs a login for everything else', async () => {
  for (const path of [
    ...['/v1', '/v1/', '/v1/users/', '/specs/', '/specs/v2.json', '/docs/'],
    ...['/docs/v1/index.html', '/docs/v1/../v1/explorer', '/fasjson/'],
  ]) {
    expect([path, (await ask(path)).status]).toEqual([path, 401]);
  }
  const written = await ask('/specs/v1.json', { method: 'POST' });
  expect(written.status).toBe(401);
});
