import { toError } from '@backstage/errors';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  type Reachability,
} from '@directory-gateway/directory-core';
import type { Entry } from 'ldapts';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from './ldapClient';
import type { LdapSrvConfig } from './LdapConfig';
import type { LdapSearch } from './LdapConnection';
import { isConnectionFailure, isRejectedBind } from './ldapErrors';
import { LdapServer, type LdapServerOptions } from './LdapServer';

/** Searches the directory's servers. */
export interface LdapSearcher {
  /**
   * Opens and binds a new connection to the current server: open ones stay
   * bound when the account is disabled or its password is changed. Also
   * resolves when no server can be reached.
   *
   * @throws DirectoryUnavailableError with the reason `refused`.
   */
  verifyBind(): Promise<void>;
  /**
   * Returns all entries that a search finds.
   *
   * @throws DirectoryUnavailableError with the reason `unreachable`, `refused`
   *   or none.
   * @throws DirectoryTimeoutError
   */
  search(search: LdapSearch): Promise<LdapSearchResult>;
}

/** Result of a search. */
export interface LdapSearchResult {
  readonly entries: readonly Entry[];
  /** URL of the server. USNs of different servers cannot be compared. */
  readonly server: string;
}

/**
 * Maximum number of attempts for one search. It is limited because the search
 * itself may be what breaks the connections. On a network that reset
 * connections ten times a second, four attempts were too few on a busy machine.
 */
const MAX_ATTEMPTS = 6;

/** Pause in milliseconds before the second attempt on a server; then doubled. */
const PAUSE_MS = 10;

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

/** Options of {@link LdapPool}. */
export interface LdapPoolOptions extends Pick<
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
 * Searches the directory's servers: the current server first, then as
 * configured or as listed by DNS SRV records (RFC 2782). The current server
 * stays current until it fails or a preferred one has been available for 10
 * minutes. Its connections survive a DNS change that does not remove it.
 *
 * A search that fails with its connection is repeated, on another available
 * server if possible. A search without pages is a decision for which a request
 * waits. The time in the queue and all attempts together do not exceed
 * `decisionTimeout`. Each page of a long search has its own deadline,
 * `operationTimeoutMs`.
 */
export class LdapPool implements LdapSearcher {
  readonly #options: LdapPoolOptions;
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

  /** Creates a pool that connects on the first search. */
  constructor(options: LdapPoolOptions) {
    this.#options = options;
    this.#resolver = options.resolver ?? new Resolver();
    const { servers } = options.config;
    if (servers.kind === 'urls') {
      this.#use(servers.urls.map((url, rank) => ({ url, rank })));
    }
  }

  /** Whether a server is available; `unreachable` before DNS has listed any. */
  get reachability(): Reachability {
    return this.#reachability;
  }

  /** Registers a listener for changes to `reachability`. */
  onReachability(listener: (reachability: Reachability) => void): void {
    this.#listeners.add(listener);
  }

  async search(search: LdapSearch): Promise<LdapSearchResult> {
    const isLong = search.pageSize !== undefined;
    const { operationTimeoutMs, decisionTimeoutMs } = this.#options.config;
    const timeoutMs = isLong ? operationTimeoutMs : decisionTimeoutMs;
    const expiresAt = performance.now() + timeoutMs;
    const result = this.#attempt(search, {
      purpose: isLong ? 'replica' : 'decisions',
      timeoutMs,
      beforeSend() {
        if (performance.now() >= expiresAt) {
          throw tooSlow();
        }
      },
    });
    return isLong
      ? result
      : withDeadline(result, { ms: timeoutMs, error: tooSlow });
  }

  async verifyBind(): Promise<void> {
    let rejection: unknown;
    for (const server of await this.#available()) {
      const error = await server.verifyBind().catch(toError);
      if (!isRejectedBind(error)) {
        return;
      }
      rejection = error;
    }
    if (rejection) {
      throw rejection;
    }
  }

  /**
   * Returns the servers, the one to search first at the start; empty before DNS
   * has listed any.
   */
  async inOrder(): Promise<readonly LdapServer[]> {
    const { servers } = this.#options.config;
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
    const { failbackMs = FAILBACK_MS } = this.#options;
    const current = this.#listed.find(({ server }) => server === this.#current);
    const better = this.#listed.find(
      ({ server, rank }) =>
        server.available &&
        (!current?.server.available ||
          (rank < current.rank && server.availableMs >= failbackMs)),
    );
    this.#current = (better ?? current)?.server;
    const listed = this.#listed.map(({ server }) => server);
    const first = listed.filter(server => server === this.#current);
    return [...new Set([...first, ...listed])];
  }

  /** Closes all connections; pending searches reject. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    for (const { server } of this.#listed) {
      server.close();
    }
  }

  async #available(): Promise<readonly LdapServer[]> {
    return (await this.inOrder()).filter(server => server.available);
  }

  /** Searches one server after another while any is available. */
  async #attempt(
    search: LdapSearch,
    options: Parameters<LdapServer['search']>[1],
  ): Promise<LdapSearchResult> {
    let lastError: unknown;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const servers = await this.#available();
      if (servers.length === 0) {
        break;
      }
      const server = servers[attempt % servers.length];
      const round = Math.floor(attempt / servers.length);
      if (round > 0) {
        await sleep(PAUSE_MS * 2 ** (round - 1));
      }
      try {
        const entries = await server.search(search, options);
        return { entries, server: server.url };
      } catch (error) {
        if (!isConnectionFailure(error)) {
          throw error;
        }
        lastError = error;
      }
    }
    throw new DirectoryUnavailableError('No directory server is available', {
      cause: lastError,
      reason:
        this.#reachability === 'refused' || isRejectedBind(lastError)
          ? 'refused'
          : 'unreachable',
    });
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
      this.#options.logger.warn(`No usable SRV records for ${srv.name}`, {
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
    this.#options.logger.warn(
      `Ignored the SRV target ${host}, which is not in ${domain}. If the target is expected, list the servers in directory.ldap.servers`,
    );
    return false;
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
    const has = (state: 'available' | 'refused') =>
      this.#listed.some(({ server }) => server[state]);
    const unavailable = has('refused') ? 'refused' : 'unreachable';
    const reachability = has('available') ? 'reachable' : unavailable;
    if (reachability !== this.#reachability) {
      this.#reachability = reachability;
      for (const listener of this.#listeners) {
        listener(reachability);
      }
    }
  }
}

function tooSlow(): DirectoryTimeoutError {
  return new DirectoryTimeoutError('The directory did not respond in time');
}
