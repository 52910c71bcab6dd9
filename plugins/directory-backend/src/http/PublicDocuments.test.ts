import { mockServices } from '@backstage/backend-test-utils';
import express from 'express';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { publishHealth } from './documents/publishHealth';
import { PublicDocuments } from './PublicDocuments';

describe('PublicDocuments', () => {
  const read = jest.fn<Promise<Buffer>, []>();
  const logger = mockServices.logger.mock();
  let now: number;
  let server: Server;

  beforeEach(async () => {
    jest.resetAllMocks();
    now = 5;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const documents = new PublicDocuments();
    documents.addPublicDocument({
      ...{ path: '/ca/crl', contentType: 'text/plain', read },
    });
    publishHealth(documents, { askDirectory: read, logger });
    const app = express()
      .use(documents.handler())
      .use(((_error, _req, res, _next) => {
        res.status(503).end();
      }) satisfies express.ErrorRequestHandler);
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    jest.restoreAllMocks();
    server.close();
  });

  const get = async (path: string) => {
    const { port } = server.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  };

  describe.each(['/ca/crl', '/fasjson/healthz/ready'])('%s', path => {
    it.each([
      ['results', () => Promise.resolve(Buffer.from('x')), 200],
      ['errors', () => Promise.reject(new Error('down')), 503],
    ])('shares %s between requests for a second', async (_, result, status) => {
      read.mockImplementation(result);
      const ask = () => Promise.all([get(path), get(path), get(path)]);
      expect(await ask()).toEqual([status, status, status]);
      now += 999;
      expect(await ask()).toEqual([status, status, status]);
      expect(read).toHaveBeenCalledTimes(1);
      now += 1;
      expect(await ask()).toEqual([status, status, status]);
      expect(read).toHaveBeenCalledTimes(2);
      expect(logger.warn.mock.calls.length).toBeLessThanOrEqual(2);
    });

    it('starts no second read while one is pending', async () => {
      let finish = (_document: Buffer) => {};
      const called = new Promise<void>(resolve => {
        read.mockImplementation(() => {
          resolve();
          return new Promise(found => {
            finish = found;
          });
        });
      });
      const first = get(path);
      await called;
      now += 10_000;
      const second = get(path);
      const [request] = await once(server, 'request');
      expect(request.url).toBe(path);
      finish(Buffer.from('x'));
      expect(await Promise.all([first, second])).toEqual([200, 200]);
      expect(read).toHaveBeenCalledTimes(1);
    });
  });
});
