import type { JsonObject } from '@backstage/types';
import {
  PostgresServer,
  type Realm,
  freePorts,
} from '@directory-gateway/realm';
import { RedisServer } from './RedisServer';
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

/** Maximum requests per hour and client address; tests send fewer. */
export const REQUEST_LIMIT = 100_000;

const PROBE_MS = 100;

/** Maximum size of headers in bytes; large enough for SPNEGO tokens. */
const MAX_HEADER_SIZE = 128 * 1024;

/** A process and its readiness. */
interface Upstream {
  readonly port: number;
  isReady: boolean;
}

/**
 * A load balancer that distributes requests to processes that are ready. A
 * request is retried with the next process when the connection is refused, and
 * a GET also when the response is incomplete.
 */
class LoadBalancer {
  /** URL of the form `http://localhost:PORT`. */
  readonly baseUrl: string;
  readonly #server: Server;
  readonly #upstreams: readonly Upstream[];
  readonly #stopped = new AbortController();
  #requests = 0;

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
    server.on('request', (req, res) => this.#handle(req, res));
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

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    this.#requests++;
    for (const port of this.#candidates()) {
      const { response, error } = await forward(req, { port, body });
      if (response) {
        res.writeHead(response.status, response.headers).end(response.body);
        return;
      }
      if (error !== 'ECONNREFUSED' && req.method !== 'GET') {
        break;
      }
    }
    res.writeHead(502).end();
  }

  #candidates(): readonly number[] {
    const ready = this.#upstreams.filter(({ isReady }) => isReady);
    const first = this.#requests % Math.max(ready.length, 1);
    return [...ready.slice(first), ...ready.slice(0, first)].map(
      ({ port }) => port,
    );
  }
}

/** A response with its headers as `writeHead` accepts them. */
interface ForwardedResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

/** Forwards on a new connection, which processes do not close when idle. */
async function forward(
  req: IncomingMessage,
  to: { readonly port: number; readonly body: Buffer },
): Promise<{ readonly response?: ForwardedResponse; readonly error?: string }> {
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
    const [incoming] = (await once(forwarded, 'response')) as [IncomingMessage];
    const response = {
      status: incoming.statusCode!,
      headers: incoming.rawHeaders,
      body: await buffer(incoming),
    };
    return { response };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}

/** A portal of two processes and its shared services. */
export interface Processes {
  readonly loadBalancer: LoadBalancer;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** The processes, in the order of the load balancer. */
  readonly gateways: readonly Gateway[];
  /** Replaces a process with a new one. */
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts two processes behind a load balancer, with one database, one cache and
 * one CA key.
 */
export async function startProcesses(options: {
  readonly realm: Realm;
  /** The user that the guest provider signs in. */
  readonly guest: string;
  /** The `directory` block without `ldap`. */
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
      backend: backendOf({ postgres, redis }),
      env: { NODE_ENV: 'production' },
    });
  // Started sequentially: two catalogs do not wait for each other's migrations
  // of an empty database.
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
      // Loopback addresses are not limited by default.
      ipAllowList: [],
      store: { type: 'redis', connection: url },
    },
    // Time for the load balancer to see the shutdown.
    lifecycle: { serverShutdownDelay: { seconds: 5 } },
  };
}
