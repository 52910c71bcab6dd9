import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeOpenDocuments } from './__testUtils__/describeOpenDocuments';
import { describeSwaggerDocument } from './__testUtils__/describeSwaggerDocument';
import { type Answer, GatewayClient, form } from '../../__testUtils__/gateway/GatewayClient';
import { makeCsr } from '../../__testUtils__/certificates/makeCsr';
import { startGateway } from '../../__testUtils__/gateway/startGateway';
import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../../__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const MOUNT = '/api/directory/fasjson';

const site = withGateway({
  configure: realm => ({
    directory: {
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

/** What lists and records look like in this dialect. */
interface Body {
  readonly result: Record<string, unknown> & Record<string, unknown>[];
  readonly page?: Record<string, unknown>;
}

const LOCATIONS = 'the JSON body or the post body or the query string';
const MISSING = {
  user: `User name. Missing required parameter in ${LOCATIONS}`,
  csr: `Certificate Signing Request. Missing required parameter in ${LOCATIONS}`,
};

/** The DN that the directory returns for "Who am I?" (RFC 4532). */
async function whoAmI(principal: string): Promise<string> {
  const { realm } = site;
  const { stdout } = await promisify(execFile)(
    'ldapwhoami',
    [
      ...['-N', '-Q', '-Y', 'GSSAPI'],
      ...['-H', realm.ldapUrl.replace('127.0.0.1', 'localhost')],
    ],
    {
      env: {
        ...process.env,
        ...realm.env,
        KRB5CCNAME: await realm.ticket(principal),
      },
    },
  );
  return stdout.trim().replace(/^dn: ?/, '');
}

const bodyOf = (answer: Answer) => answer.json as Body;
const ask = (path: string, options: Parameters<GatewayClient['ask']>[1] = {}) =>
  site.client.ask(`/fasjson/v1${path}`, { as: 'alice', ...options });

describeOpenDocuments(site);

describeSwaggerDocument(site);

describe('what clients of the reference rely on', () => {
  it('is one whole list, without a page', async () => {
    for (const path of ['/users/', '/users/?page_size=0', '/groups/']) {
      const body = bodyOf(await ask(path));
      expect(Object.keys(body)).toEqual(['result']);
      expect(body.result.length).toBeGreaterThan(10);
    }
    const none = await ask('/groups/bots/members/');
    expect(none.text).toBe('{"result":[]}');
    const head = await ask('/users/', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('is a list page by page, by its numbers and by its addresses', async () => {
    const whole = bodyOf(await ask('/users/')).result;
    const byNumber: unknown[] = [];
    let pages = 1;
    for (let number = 1; number <= pages; number++) {
      const { result, page } = bodyOf(
        await ask(`/users/?page_size=60&page_number=${number}`),
      );
      byNumber.push(...result);
      pages = page!.total_pages as number;
    }
    expect(byNumber).toEqual(whole);
    const byAddress: unknown[] = [];
    let next: unknown = `${site.gateway.baseUrl}${MOUNT}/v1/users/?page_size=60`;
    while (typeof next === 'string') {
      const path = next.replace(`${site.gateway.baseUrl}${MOUNT}/v1`, '');
      const { result, page } = bodyOf(await ask(path));
      byAddress.push(...result);
      next = page!.next_page;
    }
    expect(byAddress).toEqual(whole);
    const large = bodyOf(await ask('/users/?page_size=1000'));
    expect(large.page).toEqual({
      total_results: whole.length,
      page_size: 1000,
      page_number: 1,
      total_pages: 1,
    });
  });

  it('is an address of the next page with every parameter', async () => {
    const { page } = bodyOf(
      await ask(
        '/search/users/?page_size=1&group=packager&group=contributors&email=*',
      ),
    );
    expect(page!.next_page).toBe(
      `${site.gateway.baseUrl}${MOUNT}/v1/search/users/?group=packager&group=contributors&email=*&page_size=1&page_number=2`,
    );
    const fromBody = await ask('/users/?page_number=2', {
      body: '{"page_size":3}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(bodyOf(fromBody).page!.next_page).toBe(
      `${site.gateway.baseUrl}${MOUNT}/v1/users/?page_size=3&page_number=3`,
    );
  });

  it('is a search in a JSON body, lists included', async () => {
    const query = await ask(
      '/search/users/?group=packager&group=contributors&email=*',
    );
    const body = await ask('/search/users/?email=*', {
      body: '{"group":["packager","contributors"],"username":null}',
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    });
    expect(bodyOf(body)).toEqual(bodyOf(query));
    expect(bodyOf(body).result.length).toBeGreaterThan(0);
    const broken = await ask('/search/users/?username=ali', {
      body: '{"username":',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(broken.status).toBe(200);
  });

  it.each([
    ['ircnick__exact=matrix:/alice', 'alice'],
    ['rssurl=*&group=packager&group=contributors', 'alice'],
    ['creation__before=2007-01-02T03:04:05.678901%2B00:00', 'alice'],
    ['creation__before=2007-01-02T03:04:05', 'alice'],
    ['username__exact=*&email=alice@example.test', 'alice'],
  ])('is the search %s', async (query, username) => {
    const { result } = bodyOf(
      await ask(`/search/users/?${query}`, {
        headers: { 'X-Fields': 'username' },
      }),
    );
    expect(result).toContainEqual({ username });
  });

  it('is that nothing is found a second earlier', async () => {
    const { result } = bodyOf(
      await ask('/search/users/?creation__before=2007-01-02T03:04:04.9'),
    );
    expect(result).not.toContainEqual(
      expect.objectContaining({ username: 'alice' }),
    );
  });

  it.each([
    ['username=*', 'Search term must be at least 3 characters long.'],
    [
      'page_size=0&email=*',
      'Page size must be between 1 and 40 when searching.',
    ],
    ['page_number=0&email=*', 'Input payload validation failed'],
    ['creation__before=soon', 'Input payload validation failed'],
  ])('is that %s is refused', async (query, message) => {
    const answer = await ask(`/search/users/?${query}`);
    expect([answer.status, answer.json]).toEqual([
      400,
      expect.objectContaining({ message }),
    ]);
  });

  it('is that locked accounts are not there', async () => {
    const names = bodyOf(await ask('/users/')).result.map(
      ({ username }) => username,
    );
    expect(names).not.toContain('carol');
    const sought = await ask('/search/users/?username__exact=carol');
    expect(bodyOf(sought).result).toEqual([]);
    for (const [path, message] of [
      ['/users/carol/', 'User not found'],
      ['/users/carol/groups/', 'User does not exist'],
      ['/users/carol/agreements/', 'User does not exist'],
    ]) {
      const { status, json } = await ask(path);
      expect([status, json]).toMatchObject([404, { message, name: 'carol' }]);
    }
  });

  it('is what the checks found when dry_run is true', async () => {
    const csr = makeCsr({ subject: '/CN=alice' });
    const answer = await ask(
      '/certs/',
      form({ user: 'alice', csr, dry_run: 'true' }),
    );
    const result = { would_sign: true, rules: expect.any(Array) };
    expect([answer.status, answer.json]).toEqual([200, { result }]);
  });

  it('is a refusal to sign for others in FreeIPA’s code', async () => {
    const csr = makeCsr({ subject: '/CN=bob' });
    const answer = await ask('/certs/', {
      method: 'POST',
      body: String(new URLSearchParams({ user: 'bob', csr })),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { code: 2100, source: 'RPC' },
    ]);
  });

  it.each([
    ['/fasjson/v1/certs/', 'POST', MISSING],
    ['/v1/certs/', 'POST', MISSING],
    [
      '/fasjson/v1/users/?page_size=abc&page_number=xyz',
      'GET',
      {
        page_size: "Page size. invalid literal for int() with base 10: 'abc'",
        page_number:
          "Page number. invalid literal for int() with base 10: 'xyz'",
      },
    ],
    [
      '/v1/users/?page_size=abc&page_number=xyz',
      'GET',
      {
        page_size: 'Page size. Must be a whole number from 1 to 1000.',
        page_number: expect.stringContaining('Page number.'),
      },
    ],
    [
      '/fasjson/v1/search/users/?username=al&page_number=x&creation__before=y',
      'GET',
      {
        page_number: "Page number. invalid literal for int() with base 10: 'x'",
        creation__before: expect.stringContaining('Invalid date literal "y"'),
      },
    ],
    [
      '/v1/search/users/?username=al&page_number=x&creation__before=y',
      'GET',
      {
        page_number: expect.stringContaining('Page number.'),
        creation__before: expect.stringContaining('ISO 8601'),
      },
    ],
    [
      '/v1/groups/packager/members/?page_size=0&q=x&membership=y',
      'GET',
      {
        page_size: 'Page size. Must be a whole number from 1 to 1000.',
        membership: 'Membership. Must be direct or indirect.',
      },
    ],
  ])('names all invalid parameters of %s', async (path, method, errors) => {
    const { status, json } = await site.client.ask(path, {
      as: 'alice',
      method,
    });
    expect([status, json]).toEqual([
      400,
      {
        message: 'Input payload validation failed',
        errors,
        request_id: expect.any(String),
      },
    ]);
  });

  it('names JSON parameters that are not strings with those that are missing', async () => {
    const { status, json } = await site.client.ask('/v1/certs/', {
      as: 'alice',
      method: 'POST',
      body: '{"user":["alice"],"unknown":{}}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([status, json]).toMatchObject([
      400,
      { errors: { user: 'Must be a string.', csr: MISSING.csr } },
    ]);
  });

  it.each([
    'alice',
    'CamelCase',
    'admin',
    'nofas',
    'bot/builder.example.test',
    'HTTP/localhost',
    'host/build1.example.test',
  ])('returns the DN of LDAP "Who am I?" to %s', async principal => {
    const { result } = bodyOf(await ask('/me/', { as: principal }));
    expect(result.dn).toBe(await whoAmI(principal));
  });

  it.each([
    ['CamelCase', 'camelcase', null],
    ['admin', 'admin', null],
    ['nofas', 'nofas', null],
    ['bot/builder.example.test', null, 'bot/builder.example.test'],
    ['HTTP/localhost', null, 'http/localhost'],
    ['host/build1.example.test', null, null],
  ])('returns the name of %s in /me/', async (principal, username, service) => {
    const uri =
      username && `${site.gateway.baseUrl}${MOUNT}/v1/users/${username}/`;
    const { status, json } = await ask('/me/', { as: principal });
    expect([status, json]).toEqual([
      200,
      { result: { dn: expect.any(String), username, service, uri } },
    ]);
  });

  it('leaves /me/ of the contract dialect as it is', async () => {
    const { json } = await site.client.ask('/v1/me/', { as: 'CamelCase' });
    expect(json).toMatchObject({
      result: {
        dn: 'uid=CamelCase,cn=users,cn=accounts,dc=example,dc=test',
        username: 'CamelCase',
        uri: `${site.gateway.baseUrl}/api/directory/v1/users/CamelCase/`,
      },
    });
    const admin = await site.client.ask('/v1/me/', { as: 'admin' });
    expect(admin.json).toMatchObject({ result: { uri: null } });
  });

  it('is a certificate on one line, which the user then holds', async () => {
    const csr = makeCsr({ subject: '/CN=alice' });
    const query = new URLSearchParams({ user: 'alice', csr });
    const { result } = bodyOf(
      await ask(`/certs/?${query}`, { method: 'POST' }),
    );
    expect(result.certificate).toMatch(/^MII[A-Za-z0-9+/]+=*$/);
    const user = bodyOf(await ask('/users/alice/')).result;
    expect(user.certificates).toContain(result.certificate);
  });

  it('are the old names of sites and feeds', async () => {
    const { result } = bodyOf(
      await ask('/users/alice/', {
        headers: { 'X-Fields': 'rssurl,website,websites,rssurls' },
      }),
    );
    expect(Object.keys(result)).toEqual([
      ...['rssurl', 'website', 'websites', 'rssurls'],
    ]);
    expect(result.rssurl).toBe((result.rssurls as string[])[0]);
    const hidden = bodyOf(await ask('/users/bob/')).result;
    expect([hidden.website, hidden.rssurl]).toEqual([null, null]);
  });

  it('is that extensions of the contract are not read', async () => {
    const narrowed = await ask('/groups/packager/members/?q=x&membership=y');
    expect(narrowed.status).toBe(200);
    expect((await ask('/search/groups/?q=pack')).status).toBe(404);
    expect((await ask('/me/colleagues/')).status).toBe(404);
  });
});

it('returns 401 to an expired account with a valid ticket', async () => {
  const { status, json } = await ask('/me/', { as: 'eve' });
  expect([status, json]).toMatchObject([401, { reason: 'account_expired' }]);
});

it('names addresses as a proxy maps them', async () => {
  const proxied = await startGateway({
    realm: site.realm,
    directory: {
      fasjson: { enabled: true, baseUrl: 'https://fasjson.example.test/' },
    },
  });
  try {
    const other = new GatewayClient({ gateway: proxied, realm: site.realm });
    const asked = (path: string) =>
      other.ask(`/fasjson${path}`, { as: 'alice' });
    const root = 'https://fasjson.example.test';
    expect((await asked('/')).json).toMatchObject({
      apis: [{ uri: `${root}/v1/`, docs: `${root}/docs/v1/` }],
    });
    expect((await asked('/specs/v1.json')).json).toMatchObject({
      basePath: '/v1',
    });
    expect((await asked('/v1/users/alice/')).json).toMatchObject({
      result: { uri: `${root}/v1/users/alice/` },
    });
    const { page } = bodyOf(await asked('/v1/users/?page_size=1'));
    expect(page!.next_page).toBe(`${root}/v1/users/?page_size=1&page_number=2`);
    const own = await other.ask('/v1/users/alice/', { as: 'alice' });
    expect(own.json).toMatchObject({
      result: { uri: `${proxied.baseUrl}/api/directory/v1/users/alice/` },
    });
  } finally {
    await proxied.stop();
  }
});

it('is off unless it is switched on', async () => {
  const without = await startGateway({ realm: site.realm });
  try {
    const other = new GatewayClient({ gateway: without, realm: site.realm });
    for (const path of ['/fasjson/v1/me/', '/fasjson/specs/v1.json']) {
      expect((await other.ask(path, { as: 'alice' })).status).toBe(404);
    }
  } finally {
    await without.stop();
  }
});
