import type { LoggerService } from '@backstage/backend-plugin-api';
import type { SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Reachability } from '../directory/errors';
import type { LdapConfig, LdapSrvConfig } from './LdapConfig';
import { LdapServer } from './LdapServer';
import { readEndpoint } from './readEndpoint';

/** At least this long between two questions that DNS had no answer to. */
const RESOLVE_AGAIN_MS = 1000;

/** "A very small chance of being selected", of a record without weight. */
const NO_WEIGHT = 0.001;

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
  #resolveAt = -Infinity;
  #resolving: Promise<void> | undefined;
  #closed = false;

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

  /** None, as long as DNS has not named any. */
  async inOrder(): Promise<readonly LdapServer[]> {
    const { servers } = this.#config;
    if (servers.kind === 'srv') {
      if (performance.now() >= this.#resolveAt && !this.#closed) {
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

  /** Whether a server is in use; `unreachable` before DNS has named one. */
  get reachability(): Reachability {
    const servers = [...this.#known.values()];
    if (servers.some(server => server.available)) {
      return 'reachable';
    }
    return servers.some(server => server.refused) ? 'refused' : 'unreachable';
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#closed = true;
    for (const server of this.#known.values()) {
      server.close();
    }
  }

  /** Keeps the servers of the last answer when DNS has none. */
  async #resolve(srv: LdapSrvConfig): Promise<void> {
    try {
      const records = await this.#resolver.resolveSrv(srv.name);
      const urls = orderBySrv(records)
        .filter(record => this.#isInDomain(record, srv))
        .map(record => urlOf(record, srv));
      if (urls.length === 0) {
        throw new Error(`No SRV record of ${srv.name} is in ${srv.domain}`);
      }
      if (!this.#closed) {
        this.#use(urls);
      }
      this.#resolveAt = performance.now() + srv.refreshMs;
    } catch (error) {
      this.#resolveAt =
        performance.now() + Math.min(srv.refreshMs, RESOLVE_AGAIN_MS);
      const message = `DNS has no answer for the SRV records of ${srv.name}`;
      this.#logger.warn(message, { error: String(error) });
    }
  }

  /**
   * A forged DNS response must not choose the name that the server's
   * certificate is checked for (RFC 2782, "Security considerations").
   */
  #isInDomain({ name }: SrvRecord, { domain }: LdapSrvConfig): boolean {
    const host = hostOf(name).toLowerCase();
    if (host === domain || host.endsWith(`.${domain}`)) {
      return true;
    }
    this.#logger.warn(
      `Ignored the SRV target ${host}, which is not in ${domain}: set directory.ldap.srv.domain if it is right`,
    );
    return false;
  }

  #use(urls: readonly string[]): void {
    const current = new Set(urls);
    for (const [url, server] of this.#known) {
      if (!current.has(url)) {
        server.retire();
        this.#known.delete(url);
      }
    }
    this.#order = [...current].map(url => {
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
      breaker: config.breaker,
      logger: this.#logger,
    });
  }
}

/**
 * RFC 2782: by priority, and among equal ones at random, in proportion to
 * their weights. A target of "." says that the service is not offered.
 */
export function orderBySrv(
  records: readonly SrvRecord[],
  random: () => number = Math.random,
): readonly SrvRecord[] {
  // Efraimidis and Spirakis: the smallest of -ln(u)/w is a weighted draw.
  const drawn = records
    .filter(({ name }) => name !== '' && name !== '.')
    .map(record => ({
      record,
      key: -Math.log(1 - random()) / Math.max(record.weight, NO_WEIGHT),
    }));
  return drawn
    .sort((a, b) => a.record.priority - b.record.priority || a.key - b.key)
    .map(({ record }) => record);
}

function urlOf({ name, port }: SrvRecord, { scheme }: LdapSrvConfig): string {
  return `${scheme}://${hostOf(name)}:${port}`;
}

/** The target without the dot of the DNS root. */
function hostOf(target: string): string {
  return target.replace(/\.$/, '');
}
