import { rootHttpRouterServiceFactory } from '@backstage/backend-defaults/rootHttpRouter';
import {
  coreServices,
  createBackendPlugin,
} from '@backstage/backend-plugin-api';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import {
  type LunrQueryTranslator,
  LunrSearchEngine,
} from '@backstage/plugin-search-backend-node';
import { PostgresServer } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestBackend } from './__testUtils__/TestBackend';

jest.setTimeout(120_000);

/** More requests than the package holds for a plugin that is starting. */
const WAITING = 201;

/*
 * Each test shows a fault of the installed release of Backstage that a check of
 * this package covers. When a test fails after an upgrade, the fault is fixed:
 * delete the check, the test and the report in UPSTREAM.md.
 */
describe('Backstage without this package', () => {
  let backend: TestBackend;
  let postgres: PostgresServer;
  let statusDuringStart: number;
  let held: Promise<Response>[];
  let headers: { authorization: string; 'content-type': string };

  let arrivals = 0;
  let arrived: () => void;
  const allArrived = new Promise<void>(resolve => {
    arrived = resolve;
  });
  const router = rootHttpRouterServiceFactory({
    configure({ app, applyDefaults }) {
      app.use('/api/starting', (_req, _res, next) => {
        arrivals += 1;
        if (arrivals === WAITING) {
          arrived();
        }
        next();
      });
      applyDefaults();
    },
  });

  const startingPlugin = createBackendPlugin({
    pluginId: 'starting',
    register(env) {
      env.registerInit({
        deps: {
          config: coreServices.rootConfig,
          httpRouter: coreServices.httpRouter,
          rootHttpRouter: coreServices.rootHttpRouter,
        },
        async init({ config, httpRouter, rootHttpRouter }) {
          const url = `http://127.0.0.1:${config.getNumber(
            'backend.listen.port',
          )}`;
          const path = '/api/late/';
          statusDuringStart = (await fetch(`${url}${path}`)).status;
          rootHttpRouter.use(path, (_req, res) => res.send('started'));

          httpRouter.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
          httpRouter.use((_req, res) => res.send('started'));
          held = Array.from({ length: WAITING }, () =>
            fetch(`${url}/api/starting/`),
          );
          await allArrived;
        },
      });
    },
  });

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    // Backstage creates a database for each plugin.
    const { host, user } = postgres.connection('postgres');
    backend = await TestBackend.start(
      AuthorizeResult.DENY,
      { client: 'pg', connection: { host, user, port: 5432 } },
      router,
      startingPlugin,
    );
    const { body } = await backend.get('/api/auth/guest/refresh');
    const { token } = JSON.parse(body).backstageIdentity;
    headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    };
  });

  afterAll(async () => {
    await backend.stop();
    await postgres.stop();
  });

  const get = (path: string) => backend.send({ path, headers });
  const post = (path: string, body: unknown) =>
    backend.send({ path, method: 'POST', headers }, body);

  it('serves requests for every host name', async () => {
    const { status } = await backend.get('/probe', { host: 'evil.test' });
    expect(status).toBe(200);
  });

  it('serves requests of other sites, even for a new session', async () => {
    const { status, body } = await backend.get('/api/auth/guest/refresh', {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
    });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toHaveProperty('backstageIdentity');
  });

  it('lets a user without permissions control scheduled tasks', async () => {
    const tasks = '/api/catalog/.backstage/scheduler/v1/tasks';
    const trigger = async () => {
      const [task] = JSON.parse((await get(tasks)).body).tasks;
      return task && (await post(`${tasks}/${task.taskId}/trigger`, {})).status;
    };
    let status = await trigger();
    // The catalog schedules its tasks after the start, and runs them.
    while (status === undefined || status === 409) {
      await sleep(50);
      status = await trigger();
    }
    expect(status).toBe(200);
  });

  it('parses YAML of a user without permissions', async () => {
    const { status, body } = await post(
      '/api/catalog/.backstage/actions/v1/actions/catalog%3Avalidate-entity/invoke',
      { entity: 'kind: [' },
    );
    expect(status).toBe(200);
    expect(body).toContain('YAML parsing error');
  });

  it('describes each alternative of a malformed query and does not limit levels', async () => {
    let query: unknown = [];
    for (let level = 0; level < 3; level++) {
      query = { kind: { $contains: { $all: Array(5).fill(query) } } };
    }
    const { status, body } = await post('/api/catalog/entities/by-query', {
      query,
    });
    expect(status).toBe(400);
    expect(body.length).toBeGreaterThan(50 * JSON.stringify(query).length);

    let nested: unknown = { kind: 'component' };
    for (let level = 0; level < 100; level++) {
      nested = { $not: nested };
    }
    const deep = await post('/api/catalog/entities/by-query', {
      query: nested,
    });
    expect(deep.status).toBe(200);
  });

  it('describes each malformed item before it authorizes a request', async () => {
    const items = Array(600).fill({ id: 1 });
    const { status, body } = await post('/api/permission/authorize', { items });
    expect(status).toBe(400);
    expect(body.length).toBeGreaterThan(500_000);
  });

  it('fails when the database refuses NUL', async () => {
    const { status } = await get('/api/user-settings/buckets/a%00b/keys/c');
    expect(status).toBe(500);
  });

  it('does not limit the conditions, facets and fields of catalog queries', async () => {
    const list = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    const filter = list('metadata.', 400).join('=a,');
    const facets = list('facet=metadata.', 400).join('&');
    for (const path of [
      `entities?filter=${filter}`,
      `entity-facets?${facets}`,
      `entities?fields=${list('a.', 400)}`,
      `entities?fields=${list('a.', 400).join('.')}`,
    ]) {
      expect((await get(`/api/catalog/${path}`)).status).toBe(200);
    }
  });

  it('compares words of 100 letters with two errors allowed', () => {
    const engine = new LunrSearchEngine({ logger: backend.log });
    const term = jest.fn();
    const query = { term } as never;
    const { translator } = engine as unknown as {
      translator: LunrQueryTranslator;
    };
    const { lunrQueryBuilder } = translator({ term: 'ab'.repeat(50) });
    lunrQueryBuilder.call(query, query);
    expect(term).toHaveBeenCalledWith(
      expect.anything(),
      expect.objectContaining({ editDistance: 2 }),
    );
  });

  it('sends the messages of database drivers', async () => {
    const { body } = await backend.get('/api/failing/');
    expect(JSON.parse(body).error.message).toContain('select * from');
  });

  it('allows caches to store responses and does not tell when to try again', async () => {
    const { status, headers: received } = await backend.get(
      '/api/failing/unavailable',
    );
    expect(status).toBe(503);
    for (const name of [
      'cache-control',
      'retry-after',
      'cross-origin-resource-policy',
    ]) {
      expect(received).not.toHaveProperty(name);
    }
  });

  it('answers 404 until a plugin has added its route', async () => {
    expect(statusDuringStart).toBe(404);
    expect((await get('/api/late/')).status).toBe(200);
  });

  it('holds any number of requests to a plugin that is starting', async () => {
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    expect(statuses).toEqual(Array(WAITING).fill(200));
  });

  it('refuses headers that contain a large Kerberos token', async () => {
    const { status } = await backend.get('/probe', {
      authorization: `Negotiate ${Buffer.alloc(20_000).toString('base64')}`,
    });
    expect(status).toBe(431);
  });

  it('logs query strings', async () => {
    const logged = backend.log.nextRequest();
    await backend.get('/probe?csr=MARKED');
    expect(JSON.stringify(await logged)).toContain('MARKED');
  });
});
