import { createBackend } from '@backstage/backend-defaults';
import { MiddlewareFactory } from '@backstage/backend-defaults/rootHttpRouter';
import {
  coreServices,
  createBackendPlugin,
} from '@backstage/backend-plugin-api';
import { mockServices } from '@backstage/backend-test-utils';
import { readinessChecksServiceRef } from '@directory-gateway/backstage-plugin-directory-node';
import { freePorts } from '@directory-gateway/realm';
import type { Request, Response } from 'express';
import { EventEmitter, once } from 'node:events';
import {
  request,
  type ClientRequest,
  type IncomingHttpHeaders,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { guardStart } from './guardStart';
import { rootHealth } from './rootHealth';
import { rootHttpRouter } from './rootHttpRouter';

const MAX_OPEN = 200;
const READINESS = '/.backstage/health/v1/readiness';

function gate() {
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { open, opened };
}

describe('guardStart', () => {
  const initialized = gate();
  const responding = gate();
  const tests = gate();
  let isSynced = false;

  /** A plugin whose `init` does not finish until `tests` is open. */
  const slowPlugin = createBackendPlugin({
    pluginId: 'slow',
    register(env) {
      env.registerInit({
        deps: {
          httpRouter: coreServices.httpRouter,
          checks: readinessChecksServiceRef,
        },
        async init({ httpRouter, checks }) {
          checks.add({
            name: 'slow sync',
            maxWaitMs: 3_600_000,
            isReady: () => isSynced,
          });
          httpRouter.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
          httpRouter.use(async ({ path }, res) => {
            if (path === '/busy') {
              res.set('Retry-After', '60').sendStatus(503);
              return;
            }
            if (path === '/held') {
              await responding.opened;
            }
            res.send('responded');
          });
          initialized.open();
          await tests.opened;
        },
      });
    },
  });

  const backend = createBackend();
  let started: Promise<unknown>;
  let port: number;

  function send(path: string, method = 'GET') {
    return request({ host: '127.0.0.1', port, path, method }).end();
  }

  async function readResponse(sent: ClientRequest) {
    const [response] = await once(sent, 'response');
    const headers: IncomingHttpHeaders = response.headers;
    return {
      status: response.statusCode as number,
      retryAfter: headers['retry-after'],
      body: await text(response),
    };
  }

  const get = (path: string) => readResponse(send(path));

  beforeAll(async () => {
    [port] = await freePorts(1);
    backend.add(
      mockServices.rootConfig.factory({
        data: {
          backend: {
            baseUrl: `http://127.0.0.1:${port}`,
            listen: { host: '127.0.0.1', port },
            database: { client: 'better-sqlite3', connection: ':memory:' },
            lifecycle: { startupRequestPauseTimeout: { hours: 1 } },
          },
        },
      }),
    );
    backend.add(mockServices.rootLogger.factory({ level: 'none' }));
    backend.add(rootHttpRouter);
    backend.add(rootHealth);
    backend.add(slowPlugin);
    started = backend.start();
    started.catch(() => {});
    await Promise.race([initialized.opened, started]);
  });

  afterAll(async () => {
    tests.open();
    responding.open();
    await backend.stop();
  });

  describe('before the backend has started', () => {
    it.each(['/api/absent/v1/users/', '/api', '/pages'])(
      'returns 503 for a path without a route: %s',
      async path => {
        const { status, retryAfter, body } = await get(path);

        expect(status).toBe(503);
        expect(retryAfter).toBe(path.startsWith('/api') ? '5' : undefined);
        expect(body).toContain('The backend has not started yet.');
      },
    );

    it('holds up to 200 requests per plugin and returns 503 for others', async () => {
      const excess = 50;
      const responses: Awaited<ReturnType<typeof readResponse>>[] = [];
      const refused = gate();
      const all = Array.from({ length: MAX_OPEN + excess }, async (_, i) => {
        // All spellings of the path share a counter.
        const response = await get(i % 2 ? '/api/slow/a' : '/API/Slow/b?c');
        responses.push(response);
        if (responses.length === excess) {
          refused.open();
        }
      });
      await refused.opened;

      // Other plugins fetch the keys to verify tokens of this plugin.
      const keys = await get('/api/slow/.backstage/auth/v1/jwks.json');
      expect(keys).toMatchObject({ status: 200 });
      const post = send('/api/slow/.backstage/auth/v1/jwks.json', 'POST');
      expect(await readResponse(post)).toMatchObject({ status: 503 });
      // Another plugin has a separate counter.
      expect(await get('/api/absent')).toMatchObject({
        body: expect.stringContaining('The backend has not started yet.'),
      });

      tests.open();
      await Promise.all([...all, started]);

      expect(responses.slice(0, excess)).toEqual(
        Array(excess).fill({
          status: 503,
          retryAfter: '5',
          body: expect.stringContaining('Too many requests are waiting'),
        }),
      );
      expect(responses.slice(excess)).toEqual(
        Array(MAX_OPEN).fill({
          status: 200,
          retryAfter: undefined,
          body: 'responded',
        }),
      );
    });
  });

  describe('after the backend has started', () => {
    beforeAll(async () => {
      tests.open();
      await started;
    });

    it('returns 404 for a path without a route', async () => {
      expect(await get('/api/absent/v1/users/')).toEqual({
        status: 404,
        retryAfter: undefined,
        body: '',
      });
    });

    it('does not limit open requests', async () => {
      const all = Array.from({ length: MAX_OPEN + 1 }, () =>
        get('/api/slow/held'),
      );
      expect(await get('/api/slow/a')).toMatchObject({ status: 200 });
      responding.open();

      const statuses = (await Promise.all(all)).map(({ status }) => status);
      expect(statuses).toEqual(Array(MAX_OPEN + 1).fill(200));
    });

    it('keeps the Retry-After header of a plugin', async () => {
      expect(await get('/api/slow/busy')).toMatchObject({
        status: 503,
        retryAfter: '60',
      });
    });

    it('reports that the backend is ready when the checks have passed', async () => {
      const waiting = await get(READINESS);
      isSynced = true;
      const ready = await get(READINESS);

      expect(waiting.status).toBe(503);
      expect(JSON.parse(waiting.body)).toEqual({
        message: 'Not ready yet: slow sync',
        status: 'error',
      });
      expect(ready.status).toBe(200);
      expect(JSON.parse(ready.body)).toEqual({ status: 'ok' });
    });
  });

  it('stops counting a request when its response closes', () => {
    const check = guardStart({
      lifecycle: mockServices.rootLifecycle.mock(),
      middleware: MiddlewareFactory.create({
        config: mockServices.rootConfig(),
        logger: mockServices.logger.mock(),
      }),
    });
    const open = (path: string) => {
      const res = new EventEmitter() as Response;
      const refusal = check({ method: 'GET', path } as Request, res);
      return { refusal, close: () => res.emit('close') };
    };
    const isRefused = (path: string) => open(path).refusal !== undefined;

    const waiting = Array.from({ length: MAX_OPEN }, () => open('/api/slow/'));
    expect(waiting.filter(({ refusal }) => refusal)).toEqual([]);
    expect(isRefused('/api/slow/')).toBe(true);
    expect(isRefused('/api/other/')).toBe(false);

    waiting.slice(0, 2).forEach(({ close }) => close());
    expect(isRefused('/api/slow/')).toBe(false);
    expect(isRefused('/api/slow/')).toBe(false);
    expect(isRefused('/api/slow/')).toBe(true);
  });
});
