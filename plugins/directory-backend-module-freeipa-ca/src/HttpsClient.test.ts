import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { FakeCa } from './__testUtils__/FakeCa';
import { HttpsClient } from './HttpsClient';

jest.setTimeout(600_000);

describe('HttpsClient', () => {
  let ca: FakeCa;
  let identity: { key: string; cert: string };
  const servers = new Array<Server>();

  beforeAll(async () => {
    ca = await FakeCa.create();
    identity = await ca.serverIdentity();
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });

  afterAll(() => ca.remove());

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(identity, listener).listen(0, 'localhost');
    servers.push(server);
    await once(server, 'listening');
    return `https://localhost:${(server.address() as AddressInfo).port}/`;
  }

  const post = (
    url: string,
    caFile: string | undefined = ca.caFile,
    connectTimeoutMs = 20_000,
  ) =>
    new HttpsClient({
      caFile,
      connectTimeoutMs,
      requestTimeoutMs: 20_000,
    }).post(url, { headers: { Cookie: 'ipa_session=secret' }, body: 'body' });

  it('returns status, headers and body', async () => {
    const url = await serve((req, res) => {
      res.writeHead(401, { 'X-IPA-Rejection-Reason': 'denied' });
      req.pipe(res);
    });
    const response = await post(url);
    expect(response).toMatchObject({ status: 401, body: 'body' });
    expect(response.headers.get('x-ipa-rejection-reason')).toBe('denied');
  });

  it('does not follow redirects, so that no session is sent elsewhere', async () => {
    const visits = new Array<string | undefined>();
    const url = await serve((req, res) => {
      visits.push(req.url);
      res.writeHead(307, { Location: '/elsewhere' }).end();
    });
    await expect(post(url)).resolves.toMatchObject({ status: 307 });
    expect(visits).toEqual(['/']);
  });

  it('closes the connection after each response', async () => {
    const connections = new Array<string | undefined>();
    const url = await serve((req, res) => {
      connections.push(`${req.socket.remotePort}`);
      res.end();
    });
    await post(url);
    await post(url);
    expect(new Set(connections).size).toBe(2);
  });

  it('stops reading an endless response', async () => {
    const url = await serve((_req, res) => {
      const timer = setInterval(() => res.write(Buffer.alloc(1024 * 1024)), 1);
      res.on('close', () => clearInterval(timer));
    });
    await expect(post(url)).rejects.toMatchObject({
      executed: 'pending',
      message: expect.not.stringContaining('no response within'),
    });
  });

  it('reports that nothing was sent when there is no connection', async () => {
    const url = await serve((_req, res) => res.end());
    const [server] = servers;
    server.close();
    await once(server, 'close');
    servers.pop();
    await expect(post(url)).rejects.toMatchObject({ executed: 'no' });
  });

  it('reports that nothing was sent when the server does not complete the TLS handshake', async () => {
    const silent = createTcpServer(() => {}).listen(0, 'localhost');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expect(
      post(`https://localhost:${port}/`, ca.caFile, 500),
    ).rejects.toMatchObject({ executed: 'no' });
    silent.close();
  });

  it('sends nothing to a server that it does not trust', async () => {
    const bodies = new Array<string>();
    const url = await serve((req, res) => {
      bodies.push(String(req.url));
      res.end();
    });
    const strangers = await FakeCa.create();
    await expect(post(url, strangers.caFile)).rejects.toMatchObject({
      executed: 'no',
      message: expect.stringContaining('certificate'),
    });
    await strangers.remove();
    expect(bodies).toEqual([]);
  });

  it.each(['/nowhere', '/dev/null'])(
    'names caFile in the error when %s cannot be used',
    async file => {
      await expect(post('https://localhost:1/', file)).rejects.toMatchObject({
        executed: 'no',
        message: expect.stringContaining('freeipa.caFile'),
      });
    },
  );
});
