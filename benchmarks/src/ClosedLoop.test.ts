import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { ClosedLoop, ratioMargin, spreadOf } from './ClosedLoop';
import type { Credential, Credentials } from './credentials/credentials';
import type { ScenarioRequest } from './scenarios/Scenario';
import { SeededRandom } from './SeededRandom';

describe('ClosedLoop', () => {
  let server: Server;
  let loop: ClosedLoop;
  let respond: (res: ServerResponse, authorization: string) => void;
  let lastRequest: IncomingMessage;
  let connections: Set<unknown>;

  beforeEach(async () => {
    connections = new Set();
    server = createServer((req, res) => {
      connections.add(req.socket);
      lastRequest = req;
      respond(res, req.headers.authorization ?? '');
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

  const run = (credentials: Credentials, options: { connections: number }) =>
    loop.run({
      credentials,
      next: username => expecting(`"username":"${username}"`),
      ms: 10_000,
      signal: new AbortController().signal,
      ...options,
    });

  it('uses each credential once and stops when none is left', async () => {
    const seen: string[] = [];
    respond = (res, authorization) => {
      seen.push(authorization);
      res.end('{"result":{"username":"alice"}}');
    };
    const sample = await run(supply(100), { connections: 4 });
    expect(sample.requests).toBe(100);
    expect(sample.latencies.count).toBe(100);
    expect(sample.bytes).toBe(100 * '{"result":{"username":"alice"}}'.length);
    expect(new Set(seen).size).toBe(100);
    expect(connections.size).toBe(4);
  });

  it('uses one connection when one is requested', async () => {
    respond = res => res.end('"username":"alice"');
    await run(supply(20), { connections: 1 });
    expect(connections.size).toBe(1);
  });

  it.each([
    ['a different status', 503, '"username":"alice"'],
    ['a different body', 200, '"username":"bob"'],
  ])('throws when the response has %s', async (_what, status, body) => {
    respond = res => res.writeHead(status).end(body);
    await expect(run(supply(5), { connections: 1 })).rejects.toThrow(
      `GET /users/ returned ${status}`,
    );
  });

  it('sends a form, and throws when its response is wrong', async () => {
    const forms: string[] = [];
    respond = async res => {
      forms.push(await text(lastRequest));
      res.writeHead(forms.length > 1 ? 429 : 200).end('ok');
    };
    await expect(
      loop.run({
        credentials: supply(2),
        next: () => ({ path: '/certs/', form: 'user=alice', expected: ['ok'] }),
        connections: 1,
        ms: 10_000,
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow('POST /certs/ returned 429');
    expect(forms).toEqual(['user=alice', 'user=alice']);
    expect(lastRequest.headers['content-type']).toBe(
      'application/x-www-form-urlencoded',
    );
  });

  it('stops when the signal is aborted', async () => {
    const aborter = new AbortController();
    respond = res => {
      aborter.abort();
      res.end('"username":"alice"');
    };
    await expect(
      loop.run({
        credentials: supply(100),
        next: () => expecting('alice'),
        connections: 1,
        ms: 10_000,
        signal: aborter.signal,
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

function expecting(part: string): ScenarioRequest {
  return { path: '/users/', expected: [part] };
}

it('returns the median, the 95th percentile and the maximum', () => {
  const values = Array.from({ length: 20 }, (_, index) => 20 - index);
  expect(spreadOf(values)).toEqual({ p50: 10, p95: 19, max: 20 });
});

describe('ratioMargin', () => {
  it('returns 0 when both values of each pair change by the same factor', () => {
    const pairs = [1, 0.5, 2].map(
      speed => [600 * speed, 1000 * speed] as const,
    );
    expect(ratioMargin(pairs)).toBe(0);
  });

  it.each([5, 8, 30])(
    'contains the ratio in 95 %% of runs of %d rounds',
    rounds => {
      const random = new SeededRandom(1);
      /** Approximately normal, with a standard deviation of 0.1. */
      const noise = () =>
        1 +
        (sum(Array.from({ length: 12 }, () => random.below(1e6) / 1e6)) - 6) /
          10;
      const runs = 4000;
      let contained = 0;
      for (let run = 0; run < runs; run++) {
        const pairs = Array.from({ length: rounds }, () => {
          const speed = noise();
          return [600 * speed * noise(), 1000 * speed * noise()] as const;
        });
        const ratio =
          sum(pairs.map(([value]) => value)) / sum(pairs.map(([, of]) => of));
        contained += Math.abs(ratio - 0.6) <= ratioMargin(pairs) ? 1 : 0;
      }
      expect(contained / runs).toBeGreaterThan(0.94);
      expect(contained / runs).toBeLessThan(0.96);
    },
  );
});

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b);
}
