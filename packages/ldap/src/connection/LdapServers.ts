import type { LoggerService } from '@backstage/backend-plugin-api';
import { Resolver } from 'node:dns/promises';
import type { Reachability } from '@directory-gateway/directory-core';
import type { LdapConfig, LdapSrvConfig } from './LdapConfig';
import { LdapServer, type LdapServerOptions } from './LdapServer';

/** Interval of DNS queries in milliseconds. */
const REFRESH_MS = 5 * 60_000;

/** Minimum pause in milliseconds between DNS queries after a failure. */
const RETRY_DNS_MS = 1000;

/**
 * Milliseconds for which a preferred server must be available before it is used
 * again. Each change of server costs the replica a full sync.
 */
const FAILBACK_MS = 600_000;

/** Resolves SRV records. */
type SrvResolver = Pick<Resolver, 'resolveSrv'>;

interface ListedServer {
  readonly server: LdapServer;
  /** Lower ranks are preferred. */
  readonly rank: number;
  /**
   * Orders servers of equal rank. It stays the same while a server is listed;
   * the weights of DNS records are ignored.
   */
  readonly random: number;
}

/** Options of {@link LdapServers}. */
export interface LdapServersOptions extends Pick<
  LdapServerOptions,
  'config' | 'logger' | 'silenceMs'
> {
  /** Default: the system's resolver. */
  readonly resolver?: SrvResolver;
  /** Interval of DNS queries in milliseconds. Default: 5 minutes. */
  readonly refreshMs?: number;
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
  readonly #listeners = new Set<(reachability: Reachability) => void>();
  /** Servers by rank. */
  #listed: readonly ListedServer[] = [];
  /** Server that is searched first. */
  #current: LdapServer | undefined;
  #reachability: Reachability = 'unreachable';
  #resolveAt = -Infinity;
  #resolving: Promise<void> | undefined;
  #closed = false;

  constructor(options: LdapServersOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#logger = options.logger;
    this.#resolver = options.resolver ?? new Resolver();
    if (this.#config.servers.kind === 'urls') {
      this.#use(this.#config.servers.urls.map((url, rank) => ({ url, rank })));
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
      if (this.#listed.length === 0) {
        await this.#resolving;
      }
    }
    const current = this.#choose();
    const listed = this.#listed.map(({ server }) => server);
    return current
      ? [current, ...listed.filter(server => server !== current)]
      : listed;
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
    for (const { server } of this.#listed) {
      server.close();
    }
  }

  /**
   * Looks up the servers. Keeps the current ones if DNS returns no usable
   * records.
   */
  async #resolve(srv: LdapSrvConfig): Promise<void> {
    const { refreshMs = REFRESH_MS } = this.#options;
    try {
      const records = await this.#resolver.resolveSrv(srv.name);
      const ranked = records
        .map(record => ({ ...record, host: record.name.replace(/\.$/, '') }))
        // Without a host, the service is not offered (RFC 2782).
        .filter(({ host }) => host !== '' && this.#isInDomain(host, srv))
        .map(({ host, port, priority }) => ({
          url: `${srv.scheme}://${host}:${port}`,
          rank: priority,
        }));
      if (ranked.length === 0) {
        throw new Error(
          `No SRV record for ${srv.name} has a target in ${srv.domain}`,
        );
      }
      if (!this.#closed) {
        this.#use(ranked);
      }
      this.#resolveAt = performance.now() + refreshMs;
    } catch (error) {
      this.#resolveAt = performance.now() + Math.min(refreshMs, RETRY_DNS_MS);
      this.#logger.warn(`No usable SRV records for ${srv.name}`, {
        error: String(error),
      });
    }
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
      `Ignored the SRV target ${host}, which is not in ${domain}. If the target is expected, list the servers in directory.ldap.servers`,
    );
    return false;
  }

  /** Selects the server that is searched first. */
  #choose(): LdapServer | undefined {
    const { failbackMs = FAILBACK_MS } = this.#options;
    const current = this.#listed.find(({ server }) => server === this.#current);
    const better = this.#listed.find(
      ({ server, rank }) =>
        server.available &&
        (!current?.server.available ||
          (rank < current.rank && server.availableMs >= failbackMs)),
    );
    this.#current = (better ?? current)?.server;
    return this.#current;
  }

  /** Sets the servers. */
  #use(ranked: readonly { readonly url: string; readonly rank: number }[]) {
    const known = new Map(this.#listed.map(one => [one.server.url, one]));
    const ranks = new Map(
      // Of several ranks, the lowest one counts.
      ranked
        .toSorted((a, b) => b.rank - a.rank)
        .map(one => [one.url, one.rank]),
    );
    this.#listed = Array.from(ranks, ([url, rank]) => ({
      ...(known.get(url) ?? {
        server: new LdapServer({
          ...this.#options,
          url,
          onChange: () => this.#update(),
        }),
        random: Math.random(),
      }),
      rank,
    })).sort((a, b) => a.rank - b.rank || a.random - b.random);
    for (const [url, { server }] of known) {
      if (!ranks.has(url)) {
        server.close();
      }
    }
    this.#update();
  }

  #update(): void {
    const servers = this.#listed.map(({ server }) => server);
    const reachability = reachabilityOf(servers);
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
