import { AuthorizeResult } from '@backstage/plugin-permission-common';
import {
  type LunrQueryTranslator,
  LunrSearchEngine,
} from '@backstage/plugin-search-backend-node';
import { PostgresServer } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestBackend } from './__testUtils__/TestBackend';

jest.setTimeout(120_000);

/*
 * Each test shows a fault of the installed release of Backstage that a check of
 * this package covers. When a test fails after an upgrade, the fault is fixed:
 * delete the check, the test and the report in UPSTREAM.md.
 */
describe('Backstage without this package', () => {
  let backend: TestBackend;
  let postgres: PostgresServer;
  let headers: { authorization: string; 'content-type': string };

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    // Backstage creates a database for each plugin.
    const { host, user } = postgres.connection('postgres');
    backend = await TestBackend.start(AuthorizeResult.DENY, {
      client: 'pg',
      connection: { host, user, port: 5432 },
    });
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

  it('does not limit the levels of a query', async () => {
    let query: unknown = { kind: 'component' };
    for (let level = 0; level < 100; level++) {
      query = { $not: query };
    }
    const { status } = await post('/api/catalog/entities/by-query', { query });
    expect(status).toBe(200);
  });

  it('describes each alternative of a malformed cursor, and each item of a list', async () => {
    const filter = { not: { anyOf: Array(90).fill(0) } };
    const cursor = Buffer.from(JSON.stringify({ filter })).toString('base64');
    const items = Array(600).fill({ id: 1 });
    for (const { status, body } of [
      await get(`/api/catalog/entities/by-query?cursor=${cursor}`),
      await post('/api/permission/authorize', { items }),
    ]) {
      expect(status).toBe(400);
      expect(body.length).toBeGreaterThan(100_000);
    }
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

  it('answers 404 until a plugin has added its route', async () => {
    expect(backend.responseDuringStart?.status).toBe(404);
    expect((await get('/api/late/')).status).toBe(200);
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
