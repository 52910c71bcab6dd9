import { createBackend } from '@backstage/backend-defaults';
import {
  coreServices,
  createBackendPlugin,
  createServiceFactory,
  type LoggerService,
} from '@backstage/backend-plugin-api';
import { mockServices } from '@backstage/backend-test-utils';
import type { JsonObject } from '@backstage/types';
import { freePorts } from '@directory-gateway/realm';
import fc from 'fast-check';
import { EventEmitter } from 'node:events';
import {
  request,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { rootHttpRouter } from './rootHttpRouter';

interface LogRecord {
  message: string;
  meta?: JsonObject | Error;
}

/** Everything the root logger and its children were given, in order. */
class LogRecorder extends EventEmitter implements LoggerService {
  readonly records: LogRecord[] = [];

  error = (message: string, meta?: JsonObject | Error) =>
    this.#record({ message, meta });
  warn = this.error;
  info = this.error;
  debug = this.error;
  child = () => this;

  #record(record: LogRecord) {
    this.records.push(record);
    this.emit('record', record);
  }

  /** The next record of the request log. */
  nextRequest(): Promise<LogRecord> {
    return new Promise(resolve => {
      const listener = (record: LogRecord) => {
        const { meta } = record;
        if (meta && 'type' in meta && meta.type === 'incomingRequest') {
          this.off('record', listener);
          resolve(record);
        }
      };
      this.on('record', listener);
    });
  }
}

const probePlugin = createBackendPlugin({
  pluginId: 'probe',
  register(env) {
    env.registerInit({
      deps: { rootHttpRouter: coreServices.rootHttpRouter },
      async init({ rootHttpRouter: router }) {
        router.use('/probe', (_req, res) => res.send('probed'));
        router.use('/api/answer', (req, res) => {
          res.json({ text: 'a'.repeat(Number(req.query.letters)) });
        });
        router.use('/file.js', (_req, res) => {
          res.type('js').send('a'.repeat(2000));
        });
        router.use('/broken', () => {
          throw new Error('broken on purpose');
        });
      },
    });
  },
});

describe('rootHttpRouter', () => {
  const log = new LogRecorder();
  const backend = createBackend();
  let port: number;

  function get(path: string, headers: OutgoingHttpHeaders = {}) {
    return new Promise<{
      status: number | undefined;
      headers: IncomingHttpHeaders;
      body: string;
    }>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers })
        .on('response', response => {
          text(response).then(
            body =>
              resolve({
                status: response.statusCode,
                headers: response.headers,
                body,
              }),
            reject,
          );
        })
        .on('error', reject)
        .end();
    });
  }

  beforeAll(async () => {
    [port] = await freePorts(1);
    const rootConfig = mockServices.rootConfig.factory({
      data: {
        backend: {
          baseUrl: `http://localhost:${port}`,
          listen: { host: '127.0.0.1', port },
        },
      },
    });
    const rootLogger = createServiceFactory({
      service: coreServices.rootLogger,
      deps: {},
      factory: () => log,
    });
    backend.add(rootConfig);
    backend.add(rootLogger);
    backend.add(rootHttpRouter);
    backend.add(probePlugin);
    await backend.start();
  });

  afterAll(() => backend.stop());

  it('accepts headers that hold the largest Kerberos token', async () => {
    const token = Buffer.alloc(65_535, 'k').toString('base64');
    const padding = 'p'.repeat(100_000 - token.length);

    const response = await get('/probe', {
      authorization: `Negotiate ${token}`,
      'x-padding': padding,
    });

    expect(response).toMatchObject({ status: 200, body: 'probed' });
  });

  it.each([
    ['/api/answer?letters=2000', undefined],
    ['/api/answer?letters=14000', undefined],
    ['/api/answer?letters=15000', 'gzip'],
    ['/file.js', 'gzip'],
  ])('compresses what is worth it: %s', async (path, encoding) => {
    const { headers } = await get(path, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toContain('Accept-Encoding');

    const plain = await get(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
  });

  it('refuses headers beyond its limit and goes on serving', async () => {
    const outcome = await get('/probe', {
      'x-flood': 'f'.repeat(140_000),
    }).then(
      ({ status }) => status,
      error => error.code,
    );

    // The server closes at once; whether the answer still reaches a client
    // that has not finished sending is up to the network.
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

  it('logs nothing of a query, wherever it is repeated', async () => {
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

        // The whole line is accounted for, so no byte of the query is in it.
        expect(message).toMatch(/^GET \S+ \d{3} \d+ ms \d+ bytes$/);
        expect(meta).toMatchObject({ path, status });
        expect(message.split(' ')[1]).toBe(path);
      }),
    );
  });

  it('keeps a marked certificate request out of every log', async () => {
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

  it('sends the security headers of the defaults', async () => {
    const { headers } = await get('/probe');

    expect(headers['content-security-policy']).toContain("object-src 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });
});
