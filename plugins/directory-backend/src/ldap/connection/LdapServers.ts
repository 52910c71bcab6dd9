import type { LoggerService } from '@backstage/backend-plugin-api';
import type { SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Reachability } from '../../directory/errors';
import type { LdapConfig, LdapSrvConfig } from './LdapConfig';
import { LdapServer, type LdapServerOptions } from './LdapServer';

/** Minimum pause in milliseconds between DNS queries after a failure. */
const RETRY_DNS_MS = 1000;

/**
 * Milliseconds for which a preferred server must be available before it is used
 * again. Each change of server costs the replica a full sync.
 */
const FAILBACK_MS = 600_000;

/** Resolves SRV records. */
type SrvResolver = Pick<Resolver, 'resolveSrv'>;

/** Options of {@link LdapServers}. */
export interface LdapServersOptions extends Pick<
  LdapServerOptions,
  'config' | 'logger' | 'silenceMs'
> {
  /** Default: the system's resolver. */
  readonly resolver?: SrvResolver;
  /**
   * Milliseconds for which a preferred server must be available before it is
   * used again. Default: 10 minutes.
   */
  readonly failbackMs?: number;
}

/**
 * The directory's servers in search order: the current server first, then as
 * configured or as listed by DNS SRV records (RFC 2782). The current server
 * stays current until it fails or a preferred one has been available for 10
 * minutes. Its connections survive a DNS change that does not remove it.
 */
export class LdapServers {
  readonly #options: LdapServersOptions;
  readonly #config: LdapConfig;
  readonly #logger: LoggerService;
  readonly #resolver: SrvResolver;
  readonly #byUrl = new Map<string, LdapServer>();
  readonly #listeners = new Set<(reachability: Reachability) => void>();
  /** Rank of each server; lower ranks are preferred. */
  #ranks: ReadonlyMap<LdapServer, number> = new Map();
  #order: readonly LdapServer[] = [];
  #current: LdapServer | undefined;
  #reachability: Reachability = 'unreachable';
  /** Random numbers by target. */
  readonly #random = new Map<string, number>();
  #resolveAt = -Infinity;
  #resolving: Promise<void> | undefined;
  #closed = false;

  constructor(options: LdapServersOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#logger = options.logger;
    this.#resolver = options.resolver ?? new Resolver();
    if (this.#config.servers.kind === 'urls') {
      this.#use(this.#config.servers.urls.map((url, rank) => [url, rank]));
    }
  }

  /** Returns the servers; empty before DNS has listed any. */
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

  /** Whether a server is available; `unreachable` before DNS has listed any. */
  get reachability(): Reachability {
    return this.#reachability;
  }

  /** Registers a listener for changes to `reachability`. */
  onReachability(listener: (reachability: Reachability) => void): void {
    this.#listeners.add(listener);
  }

  /** Closes all connections; pending searches reject. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    for (const server of this.#byUrl.values()) {
      server.close();
    }
  }

  /**
   * Looks up the servers. Keeps the current ones if DNS returns no usable
   * records.
   */
  async #resolve(srv: LdapSrvConfig): Promise<void> {
    try {
      const records = await this.#resolver.resolveSrv(srv.name);
      const targets = records
        .map(record => this.#targetOf(record))
        .filter(({ host }) => host !== '' && this.#isInDomain(host, srv))
        .sort((a, b) => a.priority - b.priority || a.random - b.random);
      if (targets.length === 0) {
        throw new Error(
          `No SRV record for ${srv.name} has a target in ${srv.domain}`,
        );
      }
      if (!this.#closed) {
        this.#use(
          targets.map(({ host, port, priority }) => [
            `${srv.scheme}://${host}:${port}`,
            priority,
          ]),
        );
      }
      this.#resolveAt = performance.now() + srv.refreshMs;
    } catch (error) {
      this.#resolveAt =
        performance.now() + Math.min(srv.refreshMs, RETRY_DNS_MS);
      this.#logger.warn(`No usable SRV records for ${srv.name}`, {
        error: String(error),
      });
    }
  }

  /**
   * Returns the target of a record, without a host if the service is not offered
   * (RFC 2782). Weights are ignored: targets of equal priority have a random
   * order, which stays the same as long as this process runs.
   */
  #targetOf({ name, port, priority }: SrvRecord) {
    const host = name.replace(/\.$/, '');
    const key = `${host}:${port}`;
    const random = this.#random.get(key) ?? Math.random();
    this.#random.set(key, random);
    return { host, port, priority, random };
  }

  /**
   * Returns whether a target is in the domain. A forged DNS response must not
   * choose the name for which the server's certificate is checked (RFC 2782,
   * "Security considerations").
   */
  #isInDomain(host: string, { domain }: LdapSrvConfig): boolean {
    if (`.${host.toLowerCase()}`.endsWith(`.${domain}`)) {
      return true;
    }
    this.#logger.warn(
      `Ignored the SRV target ${host}, which is not in ${domain}. If the target is expected, set directory.ldap.srv.domain`,
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
          server.availableMs >= (this.#options.failbackMs ?? FAILBACK_MS) &&
          rankOf(server) < rankOf(current),
      );
      this.#current = preferred ?? current;
    }
    return this.#current;
  }

  /**
   * Sets the servers. Of several records with the same URL, the first one
   * counts.
   */
  #use(ranked: readonly (readonly [url: string, rank: number])[]): void {
    const ranks = new Map<LdapServer, number>();
    for (const [url, rank] of ranked) {
      const server =
        this.#byUrl.get(url) ??
        new LdapServer({
          ...this.#options,
          url,
          onChange: () => this.#update(),
        });
      this.#byUrl.set(url, server);
      ranks.set(server, ranks.get(server) ?? rank);
    }
    for (const [url, server] of this.#byUrl) {
      if (!ranks.has(server)) {
        server.close();
        this.#byUrl.delete(url);
      }
    }
    this.#ranks = ranks;
    this.#order = [...ranks.keys()];
    if (this.#current && !ranks.has(this.#current)) {
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
}

function reachabilityOf(servers: readonly LdapServer[]): Reachability {
  if (servers.some(server => server.available)) {
    return 'reachable';
  }
  return servers.some(server => server.refused) ? 'refused' : 'unreachable';
}
