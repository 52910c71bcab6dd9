import type { JsonObject } from '@backstage/types';
import {
  PostgresServer,
  type Realm,
  RedisServer,
  freePorts,
} from '@directory-gateway/realm';
import { type Gateway, startGateway } from './startGateway';
import { once } from 'node:events';
import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Requests in an hour from one address, more than a test makes. */
export const REQUEST_LIMIT = 100_000;

/** One portal of several processes, and all that they share. */
export interface Processes {
  readonly loadBalancer: LoadBalancer;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** The processes, in the order of the loadBalancer. */
  readonly gateways: readonly Gateway[];
  /** Puts another process in the place of one that has ended. */
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Two processes of the whole portal behind a loadBalancer, with one database, one
 * cache and one key of the certificate authority.
 */
export async function startProcesses(options: {
  readonly realm: Realm;
  /** The user that the guest provider signs in, an administrator. */
  readonly guest: string;
  /** The `directory` block but for `ldap`. */
  readonly directory: JsonObject;
}): Promise<Processes> {
  const [postgres, redis, ports] = await Promise.all([
    PostgresServer.start(),
    RedisServer.start(),
    freePorts(2),
  ]);
  const loadBalancer = await LoadBalancer.start(ports);
  const start = (port: number) =>
    startGateway({
      ...options,
      port,
      externalUrl: loadBalancer.baseUrl,
      entry: 'packages/backend/src/index.ts',
      backend: backendOf({ postgres, redis }),
      policy: {
        dangerouslyAllowGuests: true,
        administrators: [options.guest],
      },
      env: { NODE_ENV: 'production' },
    });
  // One after the other: on an empty database two catalogs at once would not
  // wait for each other's migrations.
  const gateways = [await start(ports[0]), await start(ports[1])];
  return {
    loadBalancer,
    postgres,
    redis,
    gateways,
    async restart(index) {
      await gateways[index].stop();
      gateways[index] = await start(ports[index]);
    },
    async stop() {
      await Promise.all(gateways.map(gateway => gateway.stop()));
      await loadBalancer.stop();
      await redis.stop();
      await postgres.stop();
    },
  };
}

function backendOf(shared: {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}): JsonObject {
  const { host, user } = shared.postgres.connection('postgres');
  const { url } = shared.redis;
  return {
    database: { client: 'pg', connection: { host, user } },
    cache: { store: 'redis', connection: url },
    trustProxy: 'loopback',
    rateLimit: {
      window: { hours: 1 },
      incomingRequestLimit: REQUEST_LIMIT,
      // By default this machine itself is not counted.
      ipAllowList: [],
      store: { type: 'redis', connection: url },
    },
    // Time for the loadBalancer to see that a process is about to end.
    lifecycle: { serverShutdownDelay: { milliseconds: 500 } },
  };
}

const PROBE_MS = 100;

/** More than a Kerberos ticket needs, in bytes. */
const MAX_HEADER_SIZE = 128 * 1024;

/** A process that answers, and whether it said of itself that it is ready. */
interface Upstream {
  readonly port: number;
  isReady: boolean;
}

/**
 * What a site has in front of several processes, for tests: in turn, those that
 * say that they are ready. The next one is asked when a connection is refused,
 * and for what changes nothing also when it breaks off before the whole answer
 * is there.
 */
export class LoadBalancer {
  /** `http://localhost:PORT`. */
  readonly baseUrl: string;
  readonly #server: Server;
  readonly #upstreams: readonly Upstream[];
  readonly #stopped = new AbortController();
  #turn = 0;

  static async start(ports: readonly number[]): Promise<LoadBalancer> {
    const server = createServer({ maxHeaderSize: MAX_HEADER_SIZE });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LoadBalancer(server, ports);
  }

  private constructor(server: Server, ports: readonly number[]) {
    this.#server = server;
    this.#upstreams = ports.map(port => ({ port, isReady: false }));
    const { port } = server.address() as AddressInfo;
    this.baseUrl = `http://localhost:${port}`;
    server.on('request', (req, res) => this.#answer(req, res));
    for (const upstream of this.#upstreams) {
      this.#probe(upstream);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #probe(upstream: Upstream): Promise<void> {
    const url = `http://127.0.0.1:${upstream.port}/.backstage/health/v1/readiness`;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const response = await fetch(url).catch(() => undefined);
      await response?.body?.cancel();
      upstream.isReady = response?.ok ?? false;
      await sleep(PROBE_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    this.#turn++;
    for (const port of this.#inTurn()) {
      const { answer, error } = await forward(req, { port, body });
      if (answer) {
        res.writeHead(answer.status, answer.headers).end(answer.body);
        return;
      }
      if (error !== 'ECONNREFUSED' && req.method !== 'GET') {
        break;
      }
    }
    res.writeHead(502).end();
  }

  #inTurn(): readonly number[] {
    const ready = this.#upstreams.filter(({ isReady }) => isReady);
    const first = this.#turn % Math.max(ready.length, 1);
    return [...ready.slice(first), ...ready.slice(0, first)].map(
      ({ port }) => port,
    );
  }
}

/** What a process answers, headers as `writeHead` takes them. */
interface ForwardedAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

/** On a connection of its own: none is closed just as it is needed. */
async function forward(
  req: IncomingMessage,
  to: { readonly port: number; readonly body: Buffer },
): Promise<{ readonly answer?: ForwardedAnswer; readonly error?: string }> {
  const { method, url: path, headers } = req;
  const forwarded = request({
    host: '127.0.0.1',
    port: to.port,
    agent: false,
    method,
    path,
    headers: { ...headers, connection: 'close' },
  });
  try {
    forwarded.end(to.body);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    const answer = {
      status: response.statusCode!,
      headers: response.rawHeaders,
      body: await buffer(response),
    };
    return { answer };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}
