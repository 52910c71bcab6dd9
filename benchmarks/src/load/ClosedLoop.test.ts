import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { ClosedLoop } from './ClosedLoop';
import type { Credential, Credentials } from '../credentials/Credentials';
import type { Drawn } from '../questions/Question';

describe('ClosedLoop', () => {
  let server: Server;
  let loop: ClosedLoop;
  let answer: (res: ServerResponse, authorization: string) => void;
  let lastRequest: IncomingMessage;
  let connections: Set<unknown>;

  beforeEach(async () => {
    connections = new Set();
    server = createServer((req, res) => {
      connections.add(req.socket);
      lastRequest = req;
      answer(res, req.headers.authorization ?? '');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    loop = new ClosedLoop({
      origin: `http://127.0.0.1:${port}`,
      connections: 4,
    });
  });

  afterEach(async () => {
    await loop.close();
    server.close();
    await once(server, 'close');
  });

  const run = (credentials: Credentials, over: { connections: number }) =>
    loop.run({
      credentials,
      draw: username => drawn(`"username":"${username}"`),
      ms: 10_000,
      signal: new AbortController().signal,
      ...over,
    });

  it('uses each credential once and stops when there are no more', async () => {
    const seen: string[] = [];
    answer = (res, authorization) => {
      seen.push(authorization);
      res.end('{"result":{"username":"alice"}}');
    };
    const sample = await run(supply(100), { connections: 4 });
    expect(sample.requests).toBe(100);
    expect(sample.latencies.count).toBe(100);
    expect(new Set(seen).size).toBe(100);
    expect(connections.size).toBe(4);
  });

  it('keeps to one connection when told so', async () => {
    answer = res => res.end('"username":"alice"');
    await run(supply(20), { connections: 1 });
    expect(connections.size).toBe(1);
  });

  it.each([
    ['another status', 503, '"username":"alice"'],
    ['another body', 200, '"username":"bob"'],
  ])('fails on %s', async (_what, status, body) => {
    answer = res => res.writeHead(status).end(body);
    await expect(run(supply(5), { connections: 1 })).rejects.toThrow(
      `GET /users/ answered ${status}`,
    );
  });

  it('sends a form, and says so when its answer is wrong', async () => {
    const forms: string[] = [];
    answer = async res => {
      forms.push(await text(lastRequest));
      res.writeHead(forms.length > 1 ? 429 : 200).end('ok');
    };
    await expect(
      loop.run({
        credentials: supply(2),
        draw: () => ({ path: '/certs/', form: 'user=alice', expected: ['ok'] }),
        connections: 1,
        ms: 10_000,
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow('POST /certs/ answered 429');
    expect(forms).toEqual(['user=alice', 'user=alice']);
    expect(lastRequest.headers['content-type']).toBe(
      'application/x-www-form-urlencoded',
    );
  });

  it('ends when it is told to', async () => {
    const ending = new AbortController();
    answer = res => {
      ending.abort();
      res.end('"username":"alice"');
    };
    await expect(
      loop.run({
        credentials: supply(100),
        draw: () => drawn('alice'),
        connections: 1,
        ms: 10_000,
        signal: ending.signal,
      }),
    ).rejects.toMatchObject({ name: 'AbortError' });
  });
});

function supply(count: number): Credentials {
  const ready: Credential[] = Array.from({ length: count }, (_, turn) => ({
    headers: { authorization: `Negotiate ${turn}` },
    username: 'alice',
  }));
  return {
    mode: 'negotiate',
    usernames: ['alice'],
    prepare: async () => {},
    next: () => ready.pop(),
  };
}

function drawn(expected: string): Drawn {
  return {
    path: '/users/',
    expected: [expected],
    ask: async () => [],
    entries: 0,
  };
}
