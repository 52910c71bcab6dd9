import { mockServices } from '@backstage/backend-test-utils';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import express, { type Request, type Response } from 'express';
import fc from 'fast-check';
import type { OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { TestBackend } from './__testUtils__/TestBackend';
import { guardApi } from './guardApi';
import { rootHttpRouter } from './rootHttpRouter';

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

  it.each([
    ['/api/text?letters=2000', undefined],
    ['/api/text?letters=14000', undefined],
    ['/api/text?letters=15000', 'gzip'],
    ['/file.js', 'gzip'],
  ])(
    'compresses large API responses and all files: %s',
    async (path, encoding) => {
      const { headers } = await get(path, { 'accept-encoding': 'gzip' });
      expect(headers['content-encoding']).toBe(encoding);
      expect(headers.vary).toContain('Accept-Encoding');

      const plain = await get(path);
      expect(plain.headers['content-encoding']).toBeUndefined();
    },
  );

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
      'other.example.test',
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
      for (const path of ['/api/text?letters=1', '/API//text?letters=1']) {
        expect(await send({ ...options, path })).toMatchObject({ status: 403 });
      }
    });

    it.each<[string, RequestOptions]>([
      ['links to documents', { path: '/api/cached', headers: navigation }],
      ['pages outside of the API', { path: '/probe', headers: crossSite }],
      [
        'origins of backend.cors',
        {
          path: '/api/cached',
          headers: { ...crossSite, origin: 'https://pages.example.test' },
        },
      ],
      [
        'other hosts of the same site',
        { path: '/api/cached', headers: { 'sec-fetch-site': 'same-site' } },
      ],
      [
        'clients that are not browsers',
        { path: '/api/cached', method: 'POST' },
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

  it('issues a token only to requests with X-Requested-With', async () => {
    for (const path of [
      '/api/auth/guest/refresh',
      '/api/auth//guest//refresh/',
      '/API/auth/guest/Refresh',
    ]) {
      for (const method of ['GET', 'POST']) {
        const refused = await send({ path, method });
        expect(refused).toMatchObject({ status: 403 });
        expect(refused.body).not.toContain('token');

        const { status, body } = await send({
          path,
          method,
          headers: { 'x-requested-with': 'XMLHttpRequest' },
        });
        expect(status).toBe(200);
        expect(JSON.parse(body).backstageIdentity.token).toBeTruthy();
      }
    }
  });

  it('adds Cache-Control to API responses that have none', async () => {
    const cacheControl = async (path: string) =>
      (await get(path)).headers['cache-control'];

    expect(await cacheControl('/api/text?letters=1')).toBe('no-store');
    expect(await cacheControl('/api/catalog/entities')).toBe('no-store');
    expect(await cacheControl('/api/none')).toBe('no-store');
    expect(await cacheControl('/api/cached')).toBe('private, no-cache');
    expect(await cacheControl('/probe')).toBeUndefined();
  });

  it.each(['http', 'HTTPS', 'x', 'ftp'])(
    'adds Cache-Control to a request target with the scheme %s',
    async scheme => {
      const target = `${scheme}://user@portal.example.test:1/api/text?letters=1`;
      const { status, headers } = await get(target);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('no-store');
    },
  );

  it('sends Cross-Origin-Resource-Policy with every response', async () => {
    for (const path of ['/probe', '/broken', '/api/cached', '/api/none']) {
      const { headers } = await get(path);
      expect(headers['cross-origin-resource-policy']).toBe('same-site');
    }
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
    const nested = (depth: number) => {
      let query: object = { kind: 'user' };
      for (let level = 1; level < depth; level += 1) {
        query = { $not: query };
      }
      return query;
    };
    const conditions = (length: number) => ({
      $any: times(length - 1, index => ({ kind: `k${index}` })),
    });
    const cursor = (content: object) =>
      Buffer.from(
        JSON.stringify({
          orderFields: [],
          orderFieldValues: [],
          isPrevious: false,
          ...content,
        }),
      ).toString('base64');
    const list = (name: string, length: number) =>
      times(length, index => `${name}=f${index}`).join('&');
    const nestedFilter = (depth: number) => {
      let filter: object = { key: 'kind' };
      for (let level = 1; level < depth; level += 1) {
        filter = { not: filter };
      }
      return filter;
    };
    const manyFilters = (length: number) =>
      `/entities?${list('filter', length)}`;
    const searchAction =
      '/api/search/.backstage/actions/v1/actions/search%3Aquery/invoke';
    const readPermission = {
      type: 'basic',
      name: 'any.read',
      attributes: { action: 'read' },
    };

    // Each request is sent at its limit and beyond.
    it.each<[string, (size: number) => [string, unknown?], number, number]>([
      [
        'levels of a query',
        size => ['/entities/by-query', { query: nested(size) }],
        31,
        1600,
      ],
      [
        'levels of a location query',
        size => [
          '/locations/by-query',
          {
            query: times(size - 1, () => 0).reduce<object>(
              query => ({ $not: query }),
              { type: 'file' },
            ),
          },
        ],
        31,
        1600,
      ],
      [
        'levels of the old filter in a cursor',
        size => [
          `/entities/by-query?cursor=${encodeURIComponent(
            cursor({ filter: nestedFilter(size) }),
          )}`,
        ],
        31,
        1000,
      ],
      [
        'conditions of a query',
        size => ['/entities/by-query', { query: conditions(size) }],
        100,
        101,
      ],
      [
        'conditions of a query in a cursor',
        size => [
          '/entities/by-query',
          { cursor: cursor({ query: conditions(size) }) },
        ],
        100,
        101,
      ],
      ['filters', size => [manyFilters(size)], 100, 101],
      [
        'conditions of a filter',
        size => [
          `/entity-facets?facet=kind&filter=${times(
            size,
            index => `f${index}=v`,
          ).join()}`,
        ],
        100,
        101,
      ],
      ['facets', size => [`/entity-facets?${list('facet', size)}`], 50, 51],
      [
        'facets in a body',
        size => ['/entity-facets', { facets: times(size, () => 'kind') }],
        50,
        51,
      ],
      [
        'fields',
        size => [`/entities?fields=${times(size, index => `f${index}`)}`],
        50,
        51,
      ],
      [
        'segments of a field',
        size => [`/entities?fields=${times(size, () => 'a').join('.')}`],
        16,
        17,
      ],
      [
        'sort fields',
        size => [
          `/entities?${times(size, index => `order=asc:f${index}`).join('&')}`,
        ],
        50,
        51,
      ],
      [
        'characters of a query string',
        size => [`/entities?filter=${'kind=abcde,'.repeat(size / 11)}`],
        11,
        16_500,
      ],
      [
        'levels in the input of an action',
        size => [
          '/.backstage/actions/v1/actions/catalog%3Aquery-catalog-entities/invoke',
          { query: nested(size) },
        ],
        31,
        1600,
      ],
      [
        'conditions in the input of an action',
        size => [
          '/.backstage/actions/v2/actions/catalog%3Aquery-catalog-entities/invoke',
          { input: { query: conditions(size) } },
        ],
        100,
        101,
      ],
      [
        'characters of an entity in the input of an action',
        size => [
          '/.backstage/actions/v1/actions/catalog%3Avalidate-entity/invoke',
          { entity: `{${'k,'.repeat(size / 2 - 1)}}` },
        ],
        4096,
        4098,
      ],
      [
        'permissions of a batch',
        size => [
          '/api/permission/authorize',
          {
            items: times(size, index => ({
              id: `${index}`,
              permission: readPermission,
            })),
          },
        ],
        500,
        501,
      ],
      [
        'conditions of a batch',
        size => [
          '/api/permission/authorize',
          {
            items: times(100, index => ({
              id: `${index}`,
              permission: readPermission,
              conditions: { claims: times(size / 100, group => group) },
            })),
          },
        ],
        9000,
        10_000,
      ],
      [
        'user settings of a batch',
        size => [
          '/api/user-settings/multiget',
          { items: times(size, index => ({ bucket: 'b', key: `${index}` })) },
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

    it('limits requests for every spelling of the path', async () => {
      for (const path of [
        '/api/catalog//entities/by-query/',
        '/API/Catalog/Entities/By-Query',
      ]) {
        const { status } = await send(
          {
            path,
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
          },
          { query: nested(1600) },
        );
        expect(status).toBe(400);
      }
    });

    it.each(['[cursor]', '%5Bcursor%5D', 'cursor[]', 'te%72m=a&cursor[0]'])(
      'limits the parameter %s, which Express reads as "cursor"',
      async name => {
        const value = encodeURIComponent(cursor({ query: nested(900) }));
        expect(await call(`/entities/by-query?${name}=${value}`)).toMatchObject(
          { status: 400, body: expect.stringContaining('levels') },
        );
      },
    );

    it('limits a batch of permissions without credentials', async () => {
      const { status } = await send(
        {
          path: '/api/permission/authorize',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        },
        { items: times(40_000, () => 0) },
      );
      expect(status).toBe(400);
    });

    const letters = 'abcdefghij'.repeat(4);
    it.each([
      [200, `${letters} ${letters}-last`],
      [200, 'anna*'],
      [400, `anna ${letters}k`],
      [400, `anna-${letters}k`],
      [400, '* *'],
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
      [
        `/entities/by-query?cursor=${cursor({ query: { 'a\0': 1 } })}`,
        undefined,
      ],
      ['/api/notifications/update', { ids: ['a\0b'], read: true }],
      ['/api/user-settings/buckets/a%00b/keys/c', undefined],
    ])('returns 400 for NUL in %s', async (path, body) => {
      expect(await call(path, body)).toMatchObject({
        status: 400,
        body: expect.stringContaining('The request contains NUL.'),
      });
    });

    it('accepts every operator of a query', async () => {
      const query = {
        $all: [
          { kind: 'user', 'metadata.name': { $in: ['a', 1, true] } },
          { $any: [{ kind: { $exists: true } }, { $not: { kind: 'x' } }] },
          { relations: { $contains: { type: 'memberOf' } } },
          { kind: { $hasPrefix: 'us' } },
        ],
      };
      for (const body of [{ query }, { cursor: cursor({ query }) }]) {
        const { status } = await call('/entities/by-query', body);
        expect(status).toBe(200);
      }
    });

    // The messages of the plugins would have up to 300 MB.
    const invalid = { $any: times(90, () => [0]) };
    const filter = { not: { anyOf: times(90, () => 0) } };
    it.each<[string, string, unknown]>([
      ['query', '/entities/by-query', { query: invalid }],
      ['query', '/entities/by-refs', { entityRefs: [], query: invalid }],
      ['query', '/entity-facets', { facets: ['kind'], query: invalid }],
      [
        'query',
        '/.backstage/actions/v2/actions/catalog%3Aquery-catalog-entities/invoke',
        { input: { query: invalid } },
      ],
      ['query', '/entities/by-query', { cursor: cursor({ query: invalid }) }],
      ['filter', '/entities/by-query', { cursor: cursor({ filter }) }],
      [
        'filter',
        `/entities/by-query?cursor=${encodeURIComponent(cursor({ filter }))}`,
        undefined,
      ],
      ['items', '/api/permission/authorize', { items: [{ id: 0 }] }],
    ])('rejects a malformed %s of %s', async (part, path, body) => {
      expect(await call(path, body)).toMatchObject({
        status: 400,
        body: expect.stringContaining(
          `The ${part} of the request is malformed.`,
        ),
      });
    });

    it('leaves malformed requests to the catalog', async () => {
      const messages = await Promise.all([
        call('/entities/by-query?cursor=x'),
        call('/entities/by-query', { cursor: 'x' }),
        call('/entities/by-query', []),
        call('/entities/by-refs', {}),
        call('/entity-facets', { facets: [] }),
      ]).then(responses => responses.map(({ status }) => status));
      expect(messages).toEqual([400, 400, 400, 400, 400]);
    });

    it('returns 413 for a body that the catalog would not accept', async () => {
      const { status } = await call('/entities/by-refs', {
        entityRefs: times(2000, () => 'x'.repeat(60)),
      });
      expect(status).toBe(413);
    });
  });

  it('does not send the message of an internal error', async () => {
    const { status, body } = await get('/api/failing');

    expect(status).toBe(500);
    expect(JSON.parse(body)).toEqual({
      error: {
        name: 'Error',
        message: 'An internal error occurred. See the log for details.',
      },
      request: { method: 'GET', url: '/' },
      response: { statusCode: 500 },
    });
  });

  it('does not send the message of an internal error for an absolute request target', async () => {
    const target = 'x://portal.example.test/api/failing/any';
    const { status, body } = await get(target);

    expect(status).toBe(500);
    expect(JSON.parse(body).error.message).toBe(
      'An internal error occurred. See the log for details.',
    );
  });

  it('sends the message of an error that is intended for callers', async () => {
    const { status, body } = await get('/api/failing/unavailable');

    expect(status).toBe(503);
    expect(JSON.parse(body).error).toEqual({
      name: 'ServiceUnavailableError',
      message: 'Try again later',
    });
  });
});

describe('guardApi', () => {
  it('refuses actions of all plugins but directory by default', () => {
    const check = guardApi(express(), mockServices.rootConfig());
    const statusOf = (plugin: string) => {
      const path = `/api/${plugin}/.backstage/actions/v1/actions`;
      const response = { setHeader() {} } as unknown as Response;
      return check({ path, headers: {} } as Request, response)?.name;
    };
    expect(['catalog', 'search', 'directory'].map(statusOf)).toEqual([
      'NotAllowedError',
      'NotAllowedError',
      undefined,
    ]);
  });
});
