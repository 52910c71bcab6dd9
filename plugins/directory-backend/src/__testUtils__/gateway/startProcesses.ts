import type { JsonObject } from '@backstage/types';
import {
  freePorts,
  PostgresServer,
  RedisServer,
  type Realm,
} from '@directory-gateway/realm';
import { Balancer } from './Balancer';
import { startGateway, type Gateway } from './startGateway';

/** Requests in an hour from one address, more than a test makes. */
export const REQUEST_LIMIT = 100_000;

/** One portal of several processes, and all that they share. */
export interface Processes {
  readonly balancer: Balancer;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** The processes, in the order of the balancer. */
  readonly gateways: readonly Gateway[];
  /** Puts another process in the place of one that has ended. */
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Two processes of the whole portal behind a balancer, with one database, one
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
  const balancer = await Balancer.start(ports);
  const start = (port: number) =>
    startGateway({
      ...options,
      port,
      externalUrl: balancer.baseUrl,
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
    balancer,
    postgres,
    redis,
    gateways,
    async restart(index) {
      await gateways[index].stop();
      gateways[index] = await start(ports[index]);
    },
    async stop() {
      await Promise.all(gateways.map(gateway => gateway.stop()));
      await balancer.stop();
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
    // Time for the balancer to see that a process is about to end.
    lifecycle: { serverShutdownDelay: { milliseconds: 500 } },
  };
}
