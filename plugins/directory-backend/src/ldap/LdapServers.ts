import type { LoggerService } from '@backstage/backend-plugin-api';
import type { SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { DirectoryUnavailableError } from '../directory/errors';
import type { LdapConfig, LdapSrvConfig } from './LdapConfig';
import { LdapServer } from './LdapServer';
import { readEndpoint } from './readEndpoint';

/** Asks for SRV records; the system's resolver, but for tests. */
export interface SrvResolver {
  resolveSrv(name: string): Promise<SrvRecord[]>;
}

/**
 * The directory's servers in the order in which they are asked: as configured,
 * or as DNS SRV records say (RFC 2782), looked up again now and then. A server
 * that stays keeps its connections.
 */
export class LdapServers {
  readonly #config: LdapConfig;
  readonly #logger: LoggerService;
  readonly #resolver: SrvResolver;
  readonly #known = new Map<string, LdapServer>();
  #order: readonly LdapServer[] = [];
  #resolvedAt = -Infinity;
  #resolving: Promise<void> | undefined;

  constructor(options: {
    readonly config: LdapConfig;
    readonly logger: LoggerService;
    readonly resolver?: SrvResolver;
  }) {
    this.#config = options.config;
    this.#logger = options.logger;
    this.#resolver = options.resolver ?? new Resolver();
    if (this.#config.servers.kind === 'urls') {
      this.#use(this.#config.servers.urls);
    }
  }

  /** @throws DirectoryUnavailableError when no server is known. */
  async inOrder(): Promise<readonly LdapServer[]> {
    const { servers } = this.#config;
    if (servers.kind === 'srv') {
      const due = performance.now() - this.#resolvedAt >= servers.refreshMs;
      if (due) {
        this.#resolving ??= this.#resolve(servers).finally(() => {
          this.#resolving = undefined;
        });
      }
      if (this.#order.length === 0) {
        await this.#resolving;
      }
    }
    return this.#order;
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    for (const server of this.#known.values()) {
      server.close();
    }
  }

  /** Keeps the servers of the last answer when DNS has none. */
  async #resolve(srv: LdapSrvConfig): Promise<void> {
    try {
      const records = await this.#resolver.resolveSrv(srv.name);
      this.#use(orderBySrv(records).map(record => urlOf(record, srv)));
      this.#resolvedAt = performance.now();
    } catch (error) {
      const message = `DNS has no answer for the SRV records of ${srv.name}`;
      this.#logger.warn(message, { error: String(error) });
      if (this.#order.length === 0) {
        throw new DirectoryUnavailableError(message, error);
      }
    }
  }

  #use(urls: readonly string[]): void {
    for (const [url, server] of this.#known) {
      if (!urls.includes(url)) {
        server.retire();
        this.#known.delete(url);
      }
    }
    this.#order = urls.map(url => {
      const server = this.#known.get(url) ?? this.#create(url);
      this.#known.set(url, server);
      return server;
    });
  }

  #create(url: string): LdapServer {
    const config = this.#config;
    return new LdapServer({
      url,
      endpoint: () => readEndpoint(url, config),
      maxConnections: config.maxConnections,
      pipelining: config.pipelining,
      idleProbeMs: config.idleProbeMs,
      probeTimeoutMs: config.connectTimeoutMs,
      failuresToOpen: config.breaker.failures,
      backoff: config.breaker,
      logger: this.#logger,
    });
  }
}

/**
 * RFC 2782: by priority, and among equal ones at random, in proportion to
 * their weights.
 */
export function orderBySrv(
  records: readonly SrvRecord[],
  random: () => number = Math.random,
): readonly SrvRecord[] {
  // Efraimidis and Spirakis: the largest of u^(1/w) is a weighted draw.
  const drawn = records.map(record => ({
    record,
    key: Math.pow(random(), 1 / Math.max(record.weight, 0.001)),
  }));
  return drawn
    .sort((a, b) => a.record.priority - b.record.priority || b.key - a.key)
    .map(({ record }) => record);
}

function urlOf({ name, port }: SrvRecord, { scheme }: LdapSrvConfig): string {
  return `${scheme}://${name.replace(/\.$/, '')}:${port}`;
}
