import { mockServices } from '@backstage/backend-test-utils';
import express from 'express';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { AmbiguousPortalUserError } from '@directory-gateway/directory-core';
import {
  CertificateRefusedError,
  SigningLimitExceededError,
  SigningRefusedError,
} from '../../certificates/errors';
import { fail } from '../../certificates/signingRules';
import { contractDialect } from '../contractDialect';
import { toApiError } from '../../apiErrors';
import { presentError } from './presentError';

describe('presentError', () => {
  const logger = mockServices.logger.mock();
  const unhandled = jest.fn();
  let server: Server;

  beforeEach(async () => {
    jest.clearAllMocks();
    const dialect = contractDialect('http://localhost');
    const app = express()
      .use(express.raw({ type: () => true, limit: 1000 }))
      .use((_req, res) => res.send('ok'))
      .use(presentError({ logger, dialectOf: () => dialect }))
      .use(unhandled);
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    server.close();
  });

  it.each([
    ['of an unknown encoding', 'zstd', Buffer.from('x'), 415],
    ['that is not gzip', 'gzip', Buffer.from('x'), 400],
    [
      'of truncated gzip',
      'gzip',
      gzipSync('x'.repeat(99)).subarray(0, 15),
      400,
    ],
    ['that is too large when unpacked', 'gzip', gzipSync('x'.repeat(1e5)), 413],
  ])(
    'rejects a body %s without logging an error',
    async (_what, encoding, body, status) => {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body,
        headers: { 'Content-Encoding': encoding },
      });
      expect([response.status, await response.json()]).toEqual([
        status,
        { message: expect.any(String), request_id: expect.any(String) },
      ]);
      expect(response.headers.get('accept-encoding')).toBe(
        status === 415 ? 'gzip, deflate' : null,
      );
      expect(logger.error).not.toHaveBeenCalled();
      expect(logger.warn).not.toHaveBeenCalled();
    },
  );

  it('logs aborted requests at debug level only', async () => {
    const { port } = server.address() as AddressInfo;
    const logged = new Promise(resolve => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) {
        logger[level].mockImplementation(message => resolve([level, message]));
      }
    });
    const received = once(server, 'request');
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nx');
    await received;
    socket.destroy();
    expect(await logged).toEqual(['debug', expect.stringContaining('aborted')]);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('toApiError', () => {
  it.each([
    [
      new AmbiguousPortalUserError('twice'),
      { status: 401, body: { reason: 'unknown_principal' } },
    ],
    [
      new SigningLimitExceededError(1500),
      { status: 429, headers: { 'Retry-After': '2' } },
    ],
    [
      new CertificateRefusedError('100.'),
      { status: 403, body: { message: '100.' } },
    ],
    [
      new CertificateRefusedError('Sign in.', {
        reason: 'recent_sign_in_required',
      }),
      {
        status: 403,
        body: { message: 'Sign in.', reason: 'recent_sign_in_required' },
      },
    ],
    [
      new SigningRefusedError(fail('key', 'Too short.')),
      { status: 400, body: { message: 'Too short.', rule: 'key' } },
    ],
    [
      new SigningRefusedError({
        ...fail('requester', 'Not yours.'),
        denial: 'forbidden',
      }),
      { status: 403, body: { message: 'Not yours.', rule: 'requester' } },
    ],
  ])('converts $name', (error, response) => {
    expect(toApiError(error)).toMatchObject(response);
  });
});
