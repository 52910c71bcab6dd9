import { mockServices } from '@backstage/backend-test-utils';
import express from 'express';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { UnauthorizedError } from '../apiErrors';
import type { Operation } from './api/Operation';
import { contractDialect } from './contractDialect';
import {
  createRouter,
  decodablePath,
  mergeSlashes,
  pathBelowMount,
  type RouterOptions,
} from './createRouter';

describe('createRouter', () => {
  let server: Server;

  afterEach(() => server.close());

  /** Serves an operation at `/v1/served/`, and a public document at `/ca/`. */
  async function serve(options: {
    readonly authenticate: RouterOptions['authenticator']['authenticate'];
    readonly handle: Operation['handle'];
  }) {
    const { authenticate, handle } = options;
    const router = createRouter({
      authenticator: { authenticate },
      publicDocuments: {
        paths: ['/ca/'],
        has: ({ path }) => path === '/ca/',
        handler: () => (_req, res) => {
          res.send('CA');
        },
      },
      access: { require: async () => {}, visibilityOf: async () => undefined },
      accounts: { requireLive: () => {} },
      mounts: [
        {
          dialect: contractDialect('http://localhost'),
          operations: [
            {
              id: 'serve',
              method: 'get',
              path: '/served/',
              permission: directoryReadPermission,
              handle,
            },
          ],
        },
      ],
      ownOrigin: 'http://localhost',
      logger: mockServices.logger.mock(),
    });
    server = createServer(express().use(router)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('aborts an operation when the client disconnects during authentication', async () => {
    const handled = Promise.withResolvers<AbortSignal>();
    const port = await serve({
      async authenticate(req, res) {
        req.socket.destroy();
        await once(res, 'close');
        return holder(person('alice'));
      },
      async handle({ context }) {
        handled.resolve(context.signal);
      },
    });
    const socket = connect(port);
    socket.write('GET /v1/served/ HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await handled.promise).aborted).toBe(true);
  });

  it('names the documentation of renewals to a script without credentials', async () => {
    const port = await serve({
      async authenticate() {
        throw new UnauthorizedError('no_credentials');
      },
      handle: async () => ({}),
    });
    const post = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
      });
      const { reason, documentation } = await response.json();
      const challenge = response.headers.get('www-authenticate');
      return { status: response.status, challenge, reason, documentation };
    };
    const unauthorized = {
      status: 401,
      challenge: 'Negotiate',
      reason: 'no_credentials',
    };
    for (const path of ['/v1/certs/1/renewal/', '/v1/certs/1/renewal/nonce/']) {
      expect(await post(path)).toEqual({
        ...unauthorized,
        documentation: 'Renew without a person',
      });
    }
    expect(await post('/v1/certs/')).toEqual(unauthorized);
  });

  it('lets pages of other sites embed public documents only', async () => {
    const port = await serve({
      async authenticate(req) {
        if (!req.headers.authorization) {
          throw new UnauthorizedError('no_credentials');
        }
        return holder(person('alice'));
      },
      handle: async () => ({}),
    });
    const get = async (path: string, headers = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers,
      });
      const policy = response.headers.get('cross-origin-resource-policy');
      return [response.status, policy];
    };
    const signedIn = { authorization: 'Negotiate' };
    expect(await get('/v1/served/', signedIn)).toEqual([200, 'same-origin']);
    expect(await get('/v1/absent/', signedIn)).toEqual([404, 'same-origin']);
    expect(await get('/v1/served/')).toEqual([401, 'same-origin']);
    expect(await get('/ca/')).toEqual([200, null]);
  });
});

describe('decodablePath', () => {
  it.each([
    ['/v1/users/alice/?a=%ff', '/v1/users/alice/?a=%ff'],
    ['/v1/users/%61lice/', '/v1/users/%61lice/'],
    ['/v1/users/%ff/', '/v1/users/%25ff/'],
    ['/v1/users/%zz/groups/', '/v1/users/%25zz/groups/'],
    ['/v1/users/%', '/v1/users/%25'],
    ['/v1/users/a%2Fb/', '/v1/users/a%2Fb/'],
    ['/v1/?a=1?b=2', '/v1/?a=1?b=2'],
  ])('changes %s to %s', (url, decodable) => {
    expect(decodablePath(url)).toBe(decodable);
  });

  it('returns a decodable path and an unchanged query', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[%a-f0-9/]{0,20}$/),
        fc.option(fc.stringMatching(/^[%a-f0-9?=&]{0,10}$/), {
          nil: undefined,
        }),
        (path, query) => {
          const url = query === undefined ? path : `${path}?${query}`;
          const [decodable, ...rest] = decodablePath(url).split('?');
          expect(() => decodeURIComponent(decodable)).not.toThrow();
          expect(rest.join('?')).toBe(query ?? '');
        },
      ),
    );
  });
});

describe('pathBelowMount', () => {
  it.each([
    ['/api/directory/v1/me/', '/v1/me/', '/v1/me/'],
    ['/api/directory//v1/me/', '/v1/me/', '//v1/me/'],
    ['/api/directory///v1//me/?a=//b', '//v1//me/?a=//b', '///v1//me/?a=//b'],
    ['/api/directory//', '/', '//'],
    ['/api/directory?a', '/?a', '/?a'],
    ['http://host/api/directory/v1/me/', 'http://host/v1/me/', '/v1/me/'],
    ['http://host/api/directory//v1/me/', 'http://host/v1/me/', '//v1/me/'],
    ['http://host/api/directory?a', 'http://host/?a', '/?a'],
  ])('keeps the slashes of %s', (originalUrl, url, path) => {
    const baseUrl = '/api/directory';
    expect(pathBelowMount({ originalUrl, baseUrl, url })).toBe(path);
  });
});

describe('mergeSlashes', () => {
  it.each([
    ['//v1/users/alice/', '/v1/users/alice/'],
    ['/fasjson///v1//users//', '/fasjson/v1/users/'],
    ['/v1/users/', '/v1/users/'],
    ['/v1//users/?website=https://a//b', '/v1/users/?website=https://a//b'],
    ['/v1/%2F/users/%2f%2F/', '/v1/%2F/users/%2f%2F/'],
  ])('changes %s to %s', (url, merged) => {
    expect(mergeSlashes(url)).toBe(merged);
  });
});
