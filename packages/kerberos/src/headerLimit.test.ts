import { once } from 'node:events';
import { createServer, request, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { raiseHeaderLimit } from './headerLimit';
import { MAX_TOKEN_BYTES } from './parseNegotiate';

/** Sends a token and a cookie; returns the server's event. */
async function send(
  server: Server,
  tokenBytes: number,
): Promise<'request' | 'HPE_HEADER_OVERFLOW'> {
  const seen = new Promise<'request' | 'HPE_HEADER_OVERFLOW'>(resolve => {
    server.once('request', () => resolve('request'));
    server.once('clientError', (error: NodeJS.ErrnoException, socket) => {
      socket.destroy();
      resolve(error.code as 'HPE_HEADER_OVERFLOW');
    });
  });
  const { port } = server.address() as AddressInfo;
  const sent = request({
    host: '127.0.0.1',
    port,
    agent: false,
    headers: {
      authorization: `Negotiate ${Buffer.alloc(tokenBytes).toString('base64')}`,
      cookie: `session=${'x'.repeat(12_000)}`,
    },
  });
  // Node.js may close the connection before a long header is fully written.
  sent.on('error', () => {});
  sent.end();
  return await seen;
}

describe('raiseHeaderLimit', () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer((_, response) => response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('accepts the largest token and a cookie on a server that is already listening', async () => {
    expect(await send(server, MAX_TOKEN_BYTES)).toBe('HPE_HEADER_OVERFLOW');

    raiseHeaderLimit(server);
    expect(await send(server, MAX_TOKEN_BYTES)).toBe('request');

    expect(await send(server, 100_000)).toBe('HPE_HEADER_OVERFLOW');
  });

  it('never lowers a limit', async () => {
    const limited: Server & { maxHeaderSize?: number } = server;
    limited.maxHeaderSize = 300_000;
    raiseHeaderLimit(server);
    expect(await send(server, 200_000)).toBe('request');
  });
});
