import type { LoggerService } from '@backstage/backend-plugin-api';
import type { SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Reachability } from '../../directory/errors';
import type { LdapConfig, LdapSrvConfig } from './LdapConfig';
import { LdapServer } from './LdapServer';
import { readEndpoint } from './ldapClient';

/** At least this long between two questions that DNS had no answer to. */
const RESOLVE_AGAIN_MS = 1000;

/**
 * Milliseconds for which a preferred server must have been available before it
 * is used again. Each change of server costs the replica a full sync.
 */
const FAILBACK_MS = 600_000;

/** "A very small chance of being selected", of a record without weight. */
const NO_WEIGHT = 0.001;

/** Asks for SRV records; the system's resolver, but for tests. */
export interface SrvResolver {
  resolveSrv(name: string): Promise<SrvRecord[]>;
}

/** A server's URL, and its rank: servers of a lower rank are preferred. */
interface RankedServer {
  readonly url: string;
  readonly rank: number;
}

/**
 * The directory's servers in the order in which they are searched: the current
 * one first, then as configured or as DNS SRV records list them (RFC 2782). The
 * current server stays current until it fails, or until a preferred one has
 * been available for 10 minutes. Its connections survive a change of DNS.
 */
export class LdapServers {
  readonly #config: LdapConfig;
  readonly #logger: LoggerService;
  readonly #resolver: SrvResolver;
  readonly #known = new Map<string, LdapServer>();
  readonly #failbackMs: number;
  readonly #listeners = new Set<(reachability: Reachability) => void>();
  #ranks: ReadonlyMap<LdapServer, number> = new Map();
  #order: readonly LdapServer[] = [];
  #current: LdapServer | undefined;
  #reachability: Reachability = 'unreachable';
  #resolveAt = -Infinity;
  #resolving: Promise<void> | undefined;
  #closed = false;

  constructor(options: {
    readonly config: LdapConfig;
    readonly logger: LoggerService;
    readonly resolver?: SrvResolver;
    /** Default: 10 minutes. */
    readonly failbackMs?: number;
  }) {
    this.#failbackMs = options.failbackMs ?? FAILBACK_MS;
    this.#config = options.config;
    this.#logger = options.logger;
    this.#resolver = options.resolver ?? new Resolver();
    if (this.#config.servers.kind === 'urls') {
      this.#use(this.#config.servers.urls.map((url, rank) => ({ url, rank })));
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
    const current = this.#choose();
    return current && current !== this.#order[0]
      ? [current, ...this.#order.filter(server => server !== current)]
      : this.#order;
  }

  /** Whether a server is in use; `unreachable` before DNS has named one. */
  get reachability(): Reachability {
    return this.#reachability;
  }

  /** Calls back when `reachability` changes; returns the unsubscribe function. */
  onReachability(listener: (reachability: Reachability) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    for (const server of this.#known.values()) {
      server.close();
    }
  }

  /** Keeps the servers of the last answer when DNS has none. */
  async #resolve(srv: LdapSrvConfig): Promise<void> {
    try {
      const records = await this.#resolver.resolveSrv(srv.name);
      const ranked = orderBySrv(records)
        .filter(record => this.#isInDomain(record, srv))
        .map(record => ({ url: urlOf(record, srv), rank: record.priority }));
      if (ranked.length === 0) {
        throw new Error(`No SRV record of ${srv.name} is in ${srv.domain}`);
      }
      if (!this.#closed) {
        this.#use(ranked);
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

  /** Selects the server that is searched first. */
  #choose(): LdapServer | undefined {
    const current = this.#current;
    const rankOf = (server: LdapServer) => this.#ranks.get(server) ?? Infinity;
    if (!current?.available) {
      this.#current = this.#order.find(server => server.available) ?? current;
    } else if (current !== this.#order[0]) {
      const preferred = this.#order.find(
        server =>
          server.available &&
          server.availableMs >= this.#failbackMs &&
          rankOf(server) < rankOf(current),
      );
      this.#current = preferred ?? current;
    }
    return this.#current;
  }

  /** Of several records of a URL, the first one counts. */
  #use(ranked: readonly RankedServer[]): void {
    const ranks = new Map<string, number>();
    for (const { url, rank } of ranked) {
      ranks.set(url, ranks.get(url) ?? rank);
    }
    for (const [url, server] of this.#known) {
      if (!ranks.has(url)) {
        server.retire();
        this.#known.delete(url);
      }
    }
    for (const url of ranks.keys()) {
      this.#known.set(url, this.#known.get(url) ?? this.#create(url));
    }
    this.#ranks = new Map(
      [...ranks].map(([url, rank]) => [this.#known.get(url)!, rank]),
    );
    this.#order = [...this.#ranks.keys()];
    if (this.#current && !this.#ranks.has(this.#current)) {
      this.#current = undefined;
    }
    this.#update();
  }

  #update(): void {
    const reachability = reachabilityOf(this.#order);
    if (reachability !== this.#reachability) {
      this.#reachability = reachability;
      for (const listener of this.#listeners) {
        listener(reachability);
      }
    }
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
      onChange: () => this.#update(),
    });
  }
}

function reachabilityOf(servers: readonly LdapServer[]): Reachability {
  if (servers.some(server => server.available)) {
    return 'reachable';
  }
  return servers.some(server => server.refused) ? 'refused' : 'unreachable';
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
