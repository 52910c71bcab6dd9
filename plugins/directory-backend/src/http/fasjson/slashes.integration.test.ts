import { request } from 'node:http';
import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../../__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const site = withGateway({
  configure: realm => ({
    directory: {
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

const statuses = async (path: string) => [
  (await site.client.ask(path)).status,
  (await site.client.ask(path, { as: 'alice' })).status,
];

describe('duplicate slashes in the fasjson dialect', () => {
  it.each([
    '/fasjson//v1/me/',
    '/fasjson/v1//me/',
    '/fasjson/v1/me//',
    '/fasjson////v1///me////',
    '/fasjson/v1/users//',
    '/fasjson//v1/users/alice/',
    '/fasjson/v1//users/alice//groups/',
    '/fasjson//v1//groups/packager/is-member//alice',
  ])('are merged in the operation %s', async path => {
    const merged = await site.client.ask(path.replace(/\/+/g, '/'), {
      as: 'alice',
    });
    const { status, text } = await site.client.ask(path, { as: 'alice' });
    expect(await statuses(path)).toEqual([401, 200]);
    expect([status, text]).toEqual([200, merged.text]);
  });

  it.each([
    '/fasjson//',
    '/fasjson//specs/v1.json',
    '/fasjson//specs///v1.json//',
    '/fasjson//docs/v1/',
    '/fasjson/healthz//live',
  ])('are merged in the public document %s', async path => {
    const merged = await site.client.ask(path.replace(/\/+/g, '/'));
    const { status, text } = await site.client.ask(path);
    expect(await statuses(path)).toEqual([200, 200]);
    expect([status, text]).toEqual([200, merged.text]);
  });

  it.each([
    '/fasjson//v1/',
    '/fasjson//v1//nope/',
    '/fasjson//v1//users//alice//nope/',
    '/fasjson//v1/groups/packager/is-member/alice//',
    '/fasjson/%2Fv1/me/',
    '/fasjson/v1%2F/me/',
    '/fasjson/v1/%2Fme/',
    '/fasjson/v1/users/%2F/alice/',
    '/fasjson/v1/users/%2Falice/',
    '/fasjson/%2Fspecs/v1.json',
    '/fasjson/specs%2F%2Fv1.json',
    '//fasjson/v1/me/',
    '//fasjson/specs/v1.json',
  ])('do not make %s a path of the API', async path => {
    expect(await statuses(path)).toEqual([401, 404]);
  });

  it('do not change the URIs in a response', async () => {
    const root = `${site.gateway.baseUrl}/api/directory/fasjson/v1`;
    const user = await site.client.ask('/fasjson//v1//users//alice/', {
      as: 'alice',
      headers: { 'X-Fields': 'uri' },
    });
    expect(user.json).toEqual({ result: { uri: `${root}/users/alice/` } });
    const search = await site.client.ask(
      '/fasjson//v1/search//users/?page_size=1&group=packager&website=https://a//b&email=*&page_number=1',
      { as: 'alice' },
    );
    expect(search.status).toBe(200);
    const list = await site.client.ask(
      '/fasjson//v1//users/?page_size=1&x=https://a//b',
      { as: 'alice' },
    );
    expect(list.json).toMatchObject({
      page: {
        next_page: `${root}/users/?x=https%3A%2F%2Fa%2F%2Fb&page_size=1&page_number=2`,
      },
    });
  });

  it('are merged in a POST, which still requires authentication', async () => {
    const post = { method: 'POST' };
    const path = '/fasjson/v1//certs//';
    expect((await site.client.ask(path, post)).status).toBe(401);
    const { status, json } = await site.client.ask(path, {
      ...post,
      as: 'alice',
    });
    expect([status, json]).toMatchObject([
      400,
      { errors: { user: expect.any(String), csr: expect.any(String) } },
    ]);
  });

  it('are merged in an absolute request target, whose host is ignored', async () => {
    const root = `${site.gateway.baseUrl}/api/directory`;
    const targets = [
      `${root}/fasjson//specs//v1.json`,
      `http://other.test/api/directory/fasjson//specs/v1.json`,
      `http://other.test/api/directory/fasjson//v1/me/`,
      `${root}//specs/v1.json`,
      `${root}//v1/me/`,
    ];
    expect(await Promise.all(targets.map(statusOfTarget))).toEqual([
      ...[200, 200, 401, 401, 401],
    ]);
  });
});

describe('duplicate slashes in the contract dialect', () => {
  it.each([
    '//v1/me/',
    '//v1/users/alice/',
    '/v1//me/',
    '/v1//users/alice/',
    '/v1/users//',
    '/v1/me//',
    '//specs/v1.json',
    '//',
    '/v1/%2Fme/',
  ])('are not merged: %s', async path => {
    expect(await statuses(path)).toEqual([401, 404]);
  });

  it.each([
    '/specs//v1.json',
    '/docs//v1/',
    '/%2Fv1/me/',
    '/fasjson%2F%2Fv1/me/',
    '/%2Fspecs/v1.json',
    '/specs%2Fv1.json',
  ])('are not merged outside of the API: %s', async path => {
    expect(await statuses(path)).toEqual([401, 401]);
  });
});

/** The status of a GET without credentials whose request target is `path`. */
function statusOfTarget(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(site.gateway.baseUrl);
    request({ hostname, port, path }, response => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}
