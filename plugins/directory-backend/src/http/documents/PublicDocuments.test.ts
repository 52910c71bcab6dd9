import express from 'express';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReplicaStatus } from '@directory-gateway/directory-core';
import { publishHealth } from './publishHealth';
import { PublicDocuments } from './PublicDocuments';

describe('PublicDocuments', () => {
  const read = jest.fn<Promise<Buffer | undefined>, [string]>();
  const replica: { status: ReplicaStatus } = { status: { kind: 'starting' } };
  let now: number;
  let server: Server;

  beforeEach(async () => {
    jest.resetAllMocks();
    now = 5;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const documents = new PublicDocuments();
    documents.addPublicDocument({
      path: '/ca/crl',
      contentType: 'text/plain',
      read,
    });
    documents.addPublicDocument({
      path: '/named/:name/crl',
      contentType: 'text/plain',
      read,
    });
    publishHealth(documents, { root: '', replica });
    publishHealth(documents, {
      root: '/fasjson',
      replica,
      unhealthyTitle: 'LDAP server is down',
    });
    const app = express()
      .use(documents.handler())
      .use((_req, res) => {
        res.status(418).end();
      })
      .use(((error, _req, res, _next) => {
        res.status(error.name === 'UnknownPathError' ? 404 : 503).end();
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

  const getNamed = async (name: string) => await get(`/named/${name}/crl`);

  describe('a document', () => {
    const path = '/ca/crl';

    it.each([
      ['results', () => Promise.resolve(Buffer.from('x')), 200],
      ['errors', () => Promise.reject(new Error('down')), 503],
    ])('shares %s between requests for a second', async (_, result, status) => {
      read.mockImplementation(result);
      const load = () => Promise.all([get(path), get(path), get(path)]);
      expect(await load()).toEqual([status, status, status]);
      now += 999;
      expect(await load()).toEqual([status, status, status]);
      expect(read).toHaveBeenCalledTimes(1);
      now += 2;
      expect(await load()).toEqual([status, status, status]);
      expect(read).toHaveBeenCalledTimes(2);
    });

    it('does not start a second read while one is pending', async () => {
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

  describe('a document with a parameter', () => {
    beforeEach(() => {
      read.mockImplementation(async name =>
        name === 'b2' ? undefined : Buffer.from(name),
      );
    });

    it('shares the result of each value for a second', async () => {
      const load = () => Promise.all(['a1', 'c3', 'a1'].map(getNamed));
      expect(await load()).toEqual([200, 200, 200]);
      expect(await load()).toEqual([200, 200, 200]);
      expect(read.mock.calls).toEqual([['a1'], ['c3']]);
    });

    it('returns pending documents while many others are requested', async () => {
      const { promise: reading, resolve: finish } =
        Promise.withResolvers<void>();
      const { promise: allRead, resolve: markAllRead } =
        Promise.withResolvers<void>();
      read.mockImplementation(async name => {
        if (read.mock.calls.length === 110) {
          markAllRead();
        }
        await reading;
        return Buffer.from(name);
      });
      const names = Array.from({ length: 110 }, (_, index) => `n${index}`);
      const responses = Promise.all(names.map(getNamed));
      await allRead;
      finish();
      expect(await responses).toEqual(names.map(() => 200));
    });

    it('returns 404 for an unknown value and does not match other paths', async () => {
      expect(await getNamed('b2')).toBe(404);
      for (const name of ['', 'a1/x', 'a-1', '%61', '..', ':name']) {
        expect([name, await getNamed(name)]).toEqual([name, 418]);
      }
      expect(read.mock.calls).toEqual([['b2']]);
    });
  });

  it.each<[ReplicaStatus, number, string]>([
    [{ kind: 'serving', ageMs: 1 }, 200, 'OK'],
    [{ kind: 'starting' }, 503, 'First sync has not finished'],
    [{ kind: 'stale', ageMs: 1 }, 503, 'Directory data is too old'],
    [
      { kind: 'suspended', reason: 'accessCheck', message: 'secret' },
      503,
      'Reads are suspended: access check failed',
    ],
  ])('reports the replica %j as %i %s', async (current, code, title) => {
    replica.status = current;
    const fasjsonTitle = code === 200 ? 'OK' : 'LDAP server is down';
    const { port } = server.address() as AddressInfo;
    for (const [path, expected, expectedTitle] of [
      ['/healthz/ready', code, title],
      ['/fasjson/healthz/ready', code, fasjsonTitle],
      ['/healthz/live', 200, 'OK'],
      ['/fasjson/healthz/live', 200, 'OK'],
    ] as const) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(response.headers.get('content-type')).toBe(
        'application/problem+json',
      );
      expect(response.status).toBe(expected);
      expect(await response.json()).toEqual({
        status: expected,
        title: expectedTitle,
      });
    }
  });
});
