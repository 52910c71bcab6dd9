import { mockServices } from '@backstage/backend-test-utils';
import { parseFilterPredicate } from '@backstage/filter-predicates';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import type { Request, Response } from 'express';
import fc from 'fast-check';
import type { OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { TestBackend } from './__testUtils__/TestBackend';
import { guardApi } from './guardApi';
import { isPredicate } from './guardInput';
import { rootHttpRouter } from './rootHttpRouter';

jest.setTimeout(120_000);

describe('rootHttpRouter', () => {
  let backend: TestBackend;
  let log: TestBackend['log'];

  const send = (options: RequestOptions, body?: unknown) =>
    backend.send(options, body);
  const get = (path: string, headers?: OutgoingHttpHeaders) =>
    backend.get(path, headers);

  beforeAll(async () => {
    backend = await TestBackend.start(
      AuthorizeResult.ALLOW,
      { client: 'better-sqlite3', connection: ':memory:' },
      rootHttpRouter,
    );
    log = backend.log;
  });

  afterAll(() => backend.stop());

  it('accepts headers that contain the largest Kerberos token', async () => {
    const token = Buffer.alloc(65_535, 'k').toString('base64');
    const padding = 'p'.repeat(100_000 - token.length);

    const response = await get('/probe', {
      authorization: `Negotiate ${token}`,
      'x-padding': padding,
    });

    expect(response).toMatchObject({ status: 200, body: 'probed' });
  });

  it('refuses headers above the limit and keeps serving', async () => {
    const outcome = await get('/probe', {
      'x-flood': 'f'.repeat(140_000),
    }).then(
      ({ status }) => status,
      error => error.code,
    );

    // The server closes the connection immediately; the network determines
    // whether the response still reaches a client that has not finished
    // sending.
    expect([431, 'ECONNRESET', 'EPIPE']).toContain(outcome);
    expect(await get('/probe')).toMatchObject({ status: 200, body: 'probed' });
  });

  it('logs method, path, status, duration and size', async () => {
    const logged = log.nextRequest();
    await get('/probe/it');
    const record = await logged;

    expect(record.message).toMatch(/^GET \/probe\/it 200 \d+ ms \d+ bytes$/);
    expect(record.meta).toEqual({
      type: 'incomingRequest',
      method: 'GET',
      path: '/probe/it',
      status: 200,
      durationMs: expect.any(Number),
      bytes: expect.any(Number),
      aborted: false,
    });
  });

  it('does not log the query string', async () => {
    const printable = fc.string({
      unit: fc
        .integer({ min: 0x21, max: 0x7e })
        .map(c => String.fromCharCode(c)),
    });
    const route = fc.constantFrom(
      { path: '/probe', status: 200 },
      { path: '/broken', status: 500 },
      { path: '/.backstage/health/v1/liveness', status: 200 },
    );

    await fc.assert(
      fc.asyncProperty(route, printable, async ({ path, status }, query) => {
        log.records.length = 0;
        const logged = log.nextRequest();
        await get(`${path}?${query}`, {
          referer: `http://localhost/?${query}`,
        });
        const { message, meta } = await logged;

        // All bytes of the line are expected, so it cannot contain the query.
        expect(message).toMatch(/^GET \S+ \d{3} \d+ ms \d+ bytes$/);
        expect(meta).toMatchObject({ path, status });
        expect(message.split(' ')[1]).toBe(path);
      }),
    );
  });

  it('does not write a certificate request to any log', async () => {
    const marked = encodeURIComponent(
      '-----BEGIN CERTIFICATE REQUEST-----\nMARKEDCSR',
    );
    for (const path of ['/probe', '/broken', '/no/such/page']) {
      const logged = log.nextRequest();
      await get(`${path}?user=alice&csr=${marked}`);
      await logged;
    }

    const everything = log.records.map(({ message, meta }) =>
      [
        message,
        meta instanceof Error ? meta.stack : JSON.stringify(meta),
      ].join(),
    );
    expect(everything.join('\n')).not.toMatch(/MARKED|csr|alice/);
  });

  it("sends Backstage's default security headers", async () => {
    const { headers } = await get('/probe');

    expect(headers['content-security-policy']).toContain("object-src 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  describe('hosts', () => {
    it.each([
      'portal.example.test',
      'PORTAL.example.test:8443',
      'pages.example.test',
      'proxy.example.test:1',
      'localhost:3000',
      '127.0.0.1',
      '[::1]:7007',
    ])('accepts %s', async host => {
      expect(await get('/probe', { host })).toMatchObject({ status: 200 });
    });

    it.each([
      'evil.test',
      'evil.test:8443',
      'portal.example.test.evil.test',
      'portal.example.test.',
      'user@portal.example.test',
      'portal.example.test/',
      '192.0.2.1',
    ])('returns 421 for "%s"', async host => {
      for (const path of [
        '/probe',
        '/api/auth/guest/refresh',
        '/api/catalog/entities',
      ]) {
        const { status, body } = await get(path, {
          host,
          'x-forwarded-host': 'portal.example.test',
          'x-requested-with': 'XMLHttpRequest',
        });
        expect(status).toBe(421);
        expect(JSON.parse(body).error.message).toContain(
          'rootHttpRouter.allowedHosts',
        );
      }
    });

    it('does not check the host of health checks', async () => {
      for (const path of [
        '/.backstage/health/v1/readiness',
        '/.backstage/health/v1/liveness',
      ]) {
        expect((await get(path, { host: '192.0.2.1:7007' })).status).toBe(200);
      }
      // No plugin serves this path here.
      const { status } = await get('/api/directory/fasjson/healthz/ready', {
        host: '192.0.2.1:7007',
      });
      expect(status).toBe(404);
    });
  });

  describe('requests from other sites', () => {
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    const navigation = {
      ...crossSite,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };

    it.each<[string, RequestOptions]>([
      ['an image', { headers: { ...crossSite, 'sec-fetch-mode': 'no-cors' } }],
      ['a script', { headers: { ...crossSite, origin: 'https://evil.test' } }],
      ['a frame', { headers: { ...navigation, 'sec-fetch-dest': 'iframe' } }],
      ['a form', { headers: navigation, method: 'POST' }],
    ])('refuses %s', async (_name, options) => {
      for (const path of ['/api/served', '/API//served']) {
        expect(await send({ ...options, path })).toMatchObject({ status: 403 });
      }
    });

    it.each<[string, RequestOptions]>([
      ['links to documents', { path: '/api/served', headers: navigation }],
      ['pages outside of the API', { path: '/probe', headers: crossSite }],
      [
        'origins of backend.cors',
        {
          path: '/api/served',
          headers: { ...crossSite, origin: 'https://pages.example.test' },
        },
      ],
      [
        'other hosts of the same site',
        { path: '/api/served', headers: { 'sec-fetch-site': 'same-site' } },
      ],
      [
        'clients that are not browsers',
        { path: '/api/served', method: 'POST' },
      ],
    ])('allows %s', async (_name, options) => {
      expect(await send(options)).toMatchObject({ status: 200 });
    });

    it('lets an identity provider post to the sign-in handler', async () => {
      const { status } = await send({
        path: '/api/auth/guest/handler/frame',
        method: 'POST',
        headers: navigation,
      });
      // The request reaches the guest provider, which has no such handler.
      expect(status).toBe(501);
    });
  });

  it.each([
    '/api/catalog/.backstage/scheduler/v1/tasks',
    '/API/catalog/.BACKSTAGE/scheduler/v1/tasks',
    '/api//catalog//.backstage//scheduler',
  ])('refuses the routes of the scheduler: %s', async path => {
    expect(await get(path)).toMatchObject({ status: 403 });
  });

  describe('input', () => {
    let authorization: string;

    /**
     * Sends a request with the token of a user, to the catalog plugin unless
     * the path begins with `/api/`.
     */
    function call(path: string, body?: unknown) {
      return send(
        {
          path: /^\/api\//i.test(path) ? path : `/api/catalog${path}`,
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization, 'content-type': 'application/json' },
        },
        body,
      );
    }

    beforeAll(async () => {
      const { body } = await get('/api/auth/guest/refresh', {
        'x-requested-with': 'XMLHttpRequest',
      });
      authorization = `Bearer ${JSON.parse(body).backstageIdentity.token}`;
    });

    const times = <T>(length: number, make: (index: number) => T): T[] =>
      Array.from({ length }, (_, index) => make(index));
    const list = (length: number, parameter: string, text = '') =>
      times(length, index => `${parameter}${index}${text}`);
    /** Wraps a value in objects, so that it has more levels. */
    const wrap = (count: number, name: string, value: unknown): unknown =>
      count > 0 ? { [name]: wrap(count - 1, name, value) } : value;
    const cursor = (content: object) =>
      encodeURIComponent(
        Buffer.from(
          JSON.stringify({
            orderFields: [],
            orderFieldValues: [],
            isPrevious: false,
            ...content,
          }),
        ).toString('base64'),
      );
    const byQuery = '/entities/by-query';
    const actions = '/.backstage/actions/v1/actions/catalog%3A';

    // Each request is sent at its limit and beyond.
    it.each<[string, (size: number) => [string, unknown?], number, number]>([
      [
        'levels of a query',
        size => [byQuery, { query: wrap(size, '$not', { kind: 'a' }) }],
        29,
        3000,
      ],
      [
        'levels of a query in a cursor',
        size => [
          `${byQuery}?cursor=${cursor({
            query: wrap(size, '$not', { kind: 'a' }),
          })}`,
        ],
        29,
        900,
      ],
      [
        'levels of the old filter in a cursor',
        size => [
          `${byQuery}?cursor=${cursor({
            filter: wrap(size, 'not', { key: 'kind' }),
          })}`,
        ],
        29,
        900,
      ],
      [
        'conditions of a query',
        size => [
          byQuery,
          { query: { $any: list(size, 'k').map(kind => ({ kind })) } },
        ],
        90,
        110,
      ],
      [
        'conditions of a filter',
        size => [`/entities?filter=${list(size, 'metadata.', '=a')}`],
        200,
        1000,
      ],
      [
        'filters',
        size => [`/entities?${list(size, 'filter=f').join('&')}`],
        90,
        310,
      ],
      [
        'facets',
        size => [`/entity-facets?${list(size, 'facet=f').join('&')}`],
        90,
        310,
      ],
      [
        'facets in a body',
        size => ['/entity-facets', { facets: list(size, 'f') }],
        90,
        310,
      ],
      ['fields', size => [`/entities?fields=${list(size, 'f')}`], 90, 310],
      [
        'segments of a field',
        size => [`/entities?fields=${times(size, () => 'a').join('.')}`],
        32,
        33,
      ],
      [
        'permissions of a batch',
        size => [
          '/api/permission/authorize',
          {
            items: times(size, index => ({
              id: `${index}`,
              permission: {
                type: 'basic',
                name: 'any.read',
                attributes: { action: 'read' },
              },
            })),
          },
        ],
        500,
        501,
      ],
    ])('limits the %s', async (_name, makeRequest, atLimit, beyond) => {
      expect(await call(...makeRequest(atLimit))).toMatchObject({
        status: 200,
      });

      const { status, body } = await call(...makeRequest(beyond));
      expect(status).toBe(400);
      expect(JSON.parse(body).error).toMatchObject({
        name: 'InputError',
        message: expect.stringMatching(/has more than \d/),
      });
    });

    it('does not count dots and commas of texts that are not conditions', async () => {
      const payload = { title: `v${'.1'.repeat(40)}${',a'.repeat(10_000)}` };
      const recipients = { type: 'broadcast' };
      const { status } = await call('/api/notifications', {
        recipients,
        payload,
      });
      // Only plugins may send notifications.
      expect(status).toBe(403);
    });

    it('does not limit words of a search outside of its term', async () => {
      const filter = `filters[title]=${'a'.repeat(600)}`;
      expect(await call(`/api/search/query?term=a&${filter}`)).toMatchObject({
        status: 200,
      });
    });

    it.each([
      { anyOf: [0] },
      { not: { anyOf: [{ key: 'kind' }, {}] } },
      { not: { key: 1 } },
      { allOf: {} },
      { allOf: [], anyOf: [] },
      { key: 'kind', values: [1] },
    ])('refuses a cursor with the filter %j', async filter => {
      expect(
        await call(`${byQuery}?cursor=${cursor({ filter })}`),
      ).toMatchObject({
        status: 400,
        body: expect.stringContaining('The cursor is malformed.'),
      });
    });

    it('refuses a malformed query wherever the catalog reads one', async () => {
      const query = { $not: { $any: [{ kind: 'a' }, 0] } };
      for (const [path, body] of [
        [byQuery, { query }],
        ['/entity-facets', { facets: ['kind'], query }],
        ['/entities/by-refs', { entityRefs: [], query }],
        ['/locations/by-query', { query }],
        [`${actions}query-catalog-entities/invoke`, { query }],
        [
          `${actions}query-catalog-entities/invoke`.replace('v1', 'v2'),
          { input: { query } },
        ],
        [`${byQuery}?cursor=${cursor({ query })}`],
        [`/locations/by-query?cursor=${cursor({ limit: 1, query })}`],
      ] satisfies [string, unknown?][]) {
        expect(await call(path, body)).toMatchObject({
          status: 400,
          body: expect.stringContaining('The query is malformed.'),
        });
      }
    });

    it('accepts a cursor that the catalog writes', async () => {
      const kind = { key: 'kind', values: ['component'] };
      const filter = { anyOf: [{ allOf: [kind, { not: { key: 'a' } }] }] };
      expect(
        await call(`${byQuery}?cursor=${cursor({ filter })}`),
      ).toMatchObject({ status: 200 });
    });

    it('limits requests for every spelling of the path', async () => {
      for (const path of [
        '/api/catalog//entities/by-query/',
        '/API/Catalog/Entities/By-Query',
      ]) {
        const query = wrap(1600, '$not', { kind: 'a' });
        expect(await call(path, { query })).toMatchObject({ status: 400 });
      }
    });

    it.each(['[cursor]', '%5Bcursor%5D', 'cursor[]', 'te%72m=a&cursor[0]'])(
      'limits the parameter %s, which Express reads as "cursor"',
      async name => {
        const value = cursor({ query: wrap(900, '$not', {}) });
        expect(await call(`${byQuery}?${name}=${value}`)).toMatchObject({
          status: 400,
          body: expect.stringContaining('levels'),
        });
      },
    );

    it.each([
      [200, 16_000],
      [400, 16_400],
    ])('returns %s for a URL of %s characters', async (expected, length) => {
      const { status } = await call(
        '/entities?filter=kind='.padEnd(length, 'a'),
      );
      expect(status).toBe(expected);
    });

    it.each([
      [200, 4096],
      [413, 4097],
    ])(
      'returns %s for an entity in a body of %s bytes for an action',
      async (status, size) => {
        const body = { entity: '' };
        body.entity = `{${'k,'.repeat((size - 16) / 2)}}`;
        body.entity = body.entity.padEnd(
          size - JSON.stringify({ entity: '' }).length,
        );
        expect(
          await call(`${actions}validate-entity/invoke`, body),
        ).toMatchObject({ status });
      },
    );

    const letters = 'abcdefghij'.repeat(4);
    const searchAction =
      '/api/search/.backstage/actions/v1/actions/search%3Aquery/invoke';
    it.each([
      [200, `${letters} ${letters}-last`],
      [200, 'anna*'],
      [400, `anna ${letters}k`],
      [400, `anna-${letters}k`],
      [400, '* *'],
      [400, 'ab '.repeat(170)],
    ])('returns %s for a search for "%s"', async (status, term) => {
      const responses = await Promise.all([
        call(`/api/search/query?term=${encodeURIComponent(term)}`),
        call(searchAction, { term }),
        call(searchAction.replace('v1', 'v2'), { input: { term } }),
      ]);
      expect(responses.map(response => response.status)).toEqual([
        status,
        status,
        status,
      ]);
    });

    it.each([
      `[term]=${letters}k`,
      `te%72m=${letters}k`,
      `term=${'%ff'.repeat(14)}`,
      'filters[kind]=*%20*',
      'filters[kind]=*&term=*',
      'filters[kind][]=*&filters[kind][]=*',
    ])('limits a search as Express reads it: %s', async parameters => {
      expect(await call(`/api/search/query?${parameters}`)).toMatchObject({
        status: 400,
        body: expect.stringContaining('A search has at most'),
      });
    });

    it.each([
      '/api/notifications/.backstage/actions/v1/actions',
      '/api/auth/.backstage/actions/v1/actions/auth%3Awho-am-i/invoke',
      '/API/Auth//.backstage/actions/v2/actions/auth%3Awho-am-i/invoke',
    ])('refuses %s of a plugin that is not listed', async path => {
      expect(await call(path, {})).toMatchObject({
        status: 403,
        body: expect.stringContaining('backend.actions.pluginSources'),
      });
    });

    it.each<[string, unknown]>([
      ['/entities/by-name/user/default/a%00b', undefined],
      ['/entities/by-refs', { entityRefs: ['user:default/a\0b'] }],
      [`${byQuery}?cursor=${cursor({ query: { 'a\0': 1 } })}`, undefined],
      ['/api/notifications/update', { ids: ['a\0b'], read: true }],
      ['/api/user-settings/buckets/a%00b/keys/c', undefined],
    ])('returns 400 for NUL in %s', async (path, body) => {
      expect(await call(path, body)).toMatchObject({
        status: 400,
        body: expect.stringContaining('contains NUL.'),
      });
    });

    it('shortens the error of a malformed request', async () => {
      const items = times(500, () => ({ id: 1 }));
      const response = await call('/api/permission/authorize', { items });
      expect(response.status).toBe(400);
      expect(JSON.parse(response.body).error.message).toHaveLength(1000);
    });

    it('returns 413 for a body that the catalog would not accept', async () => {
      const { status } = await call('/entities/by-refs', {
        entityRefs: times(2000, () => 'x'.repeat(60)),
      });
      expect(status).toBe(413);
    });
  });

  const internal = 'An internal error occurred. See the log.';
  const original = 'select * from `people` - no such table';
  it.each([
    [404, original],
    [500, internal],
    [501, original],
    [502, internal],
    [503, original],
    [504, internal],
  ])('sends an error with status %i without details', async (code, message) => {
    const { status, body } = await get(`/api/failing/${code}`);

    expect(status).toBe(code);
    expect(JSON.parse(body)).toEqual({
      error: { name: 'Error', message },
      request: { method: 'GET', url: `/${code}` },
      response: { statusCode: code },
    });
  });

  it('returns 503 until a plugin has added its route', async () => {
    expect(backend.responseDuringStart).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
    });
    expect(await get('/api/late/')).toMatchObject({ status: 200 });
    expect(await get('/api/absent/')).toMatchObject({ status: 404 });
  });
});

describe('isPredicate', () => {
  const isAccepted = (value: unknown) => {
    try {
      parseFilterPredicate(value);
      return true;
    } catch {
      return false;
    }
  };
  const name = fc.constantFrom(
    ...['$all', '$any', '$not', '$exists', '$in', '$contains', '$hasPrefix'],
    ...['', 'kind', 'a\nb', '$a'],
  );

  it('accepts exactly what Backstage accepts', () => {
    const { value: anything } = fc.letrec(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('a', 0, true, null),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(name, tie('value'), { maxKeys: 2 }),
      ),
    }));
    fc.assert(
      fc.property(anything, value => {
        expect(isPredicate(value)).toBe(isAccepted(value));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    { kind: 'component', 'metadata.name': { $hasPrefix: 'a' } },
    { $all: [{ $any: [{ a: 1 }, { b: true }] }, { $not: { c: 'd' } }] },
    { a: { $in: ['b', 1] }, b: { $exists: false } },
    { a: { $exists: true, x: 1 } },
    { relations: { $contains: { $not: { type: 'ownedBy' } } } },
    { tags: { $contains: { $any: ['a', 1] } } },
    {},
  ])('accepts %j', query => {
    expect(isPredicate(query)).toBe(true);
    expect(isAccepted(query)).toBe(true);
  });
});

describe('guardApi', () => {
  it.each(['catalog', 'search'])('refuses actions of %s by default', plugin => {
    const check = guardApi(mockServices.rootConfig());
    const request = (name: string) =>
      ({
        path: `/api/${name}/.backstage/actions/v1/actions`,
        headers: {},
      }) as Request;
    expect(() => check(request(plugin), {} as Response)).toThrow(
      'backend.actions.pluginSources',
    );
    expect(() => check(request('directory'), {} as Response)).not.toThrow();
  });
});
