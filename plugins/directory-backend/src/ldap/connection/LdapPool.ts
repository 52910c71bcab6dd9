import type {
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import {
  bulkhead,
  BulkheadRejectedError,
  type BulkheadPolicy,
} from 'cockatiel';
import type { Entry } from 'ldapts';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import type { LdapConfig } from './LdapConfig';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  type Reachability,
} from '../../directory/errors';
import type { LdapSearch } from './LdapConnection';
import {
  isConnectionFailure,
  isConnectTimeout,
  isRejectedBind,
} from './ldapErrors';
import type { LdapServer } from './LdapServer';
import { LdapServers, type SrvResolver } from './LdapServers';
import { withDeadline } from './ldapClient';

/** Searches the directory's servers. */
export interface LdapSearcher {
  /**
   * Opens and binds a new connection to the current server: open ones stay
   * bound when the account is disabled or its password is changed. Resolves
   * also when no server can be connected to.
   *
   * @throws DirectoryUnavailableError with the reason `refused`.
   */
  verifyBind(): Promise<void>;
  /**
   * All entries that a search finds, and which server found them.
   *
   * @throws DirectoryUnavailableError with the reason `unreachable`, `refused`,
   *   `overloaded` or `response`.
   * @throws DirectoryTimeoutError
   */
  search(
    search: LdapSearch,
    context: { readonly signal: AbortSignal },
  ): Promise<LdapSearchResult>;
}

/** What one server answered to a search. */
export interface LdapSearchResult {
  readonly entries: readonly Entry[];
  /** The server's URL: its change numbers mean nothing on another server. */
  readonly server: string;
}

/**
 * How often a question is sent at most, because it may be what breaks the
 * connections. Where a network breaks them ten times a second, three or four
 * were too few on a busy machine.
 */
const MAX_SENDINGS = 6;

/** Milliseconds until the same server is tried again for a question. */
const PAUSES_MS = [0, 10, 20, 40, 80, 160];

/**
 * Searches the directory's servers, the current one first. A search that fails
 * with its connection is repeated, on another server in use if there is one;
 * searches change nothing, so that is safe. All attempts together, and the time
 * in the queue, take no longer than `operationTimeout`; of a long search each
 * page may take as long.
 */
export class LdapPool implements LdapSearcher {
  readonly #servers: LdapServers;
  readonly #timeoutMs: number;
  readonly #limit: BulkheadPolicy;

  constructor(options: {
    readonly config: LdapConfig;
    readonly logger: LoggerService;
    readonly resolver?: SrvResolver;
    /**
     * Milliseconds for which a preferred server must have been available before
     * it is used again. Default: 10 minutes.
     */
    readonly failbackMs?: number;
  }) {
    const { config } = options;
    this.#servers = new LdapServers(options);
    this.#timeoutMs = config.operationTimeoutMs;
    this.#limit = bulkhead(
      config.maxConnections * config.pipelining,
      config.maxQueued,
    );
  }

  /** Connects on the first search; closes with the plugin. */
  static create(options: {
    readonly config: LdapConfig;
    readonly logger: LoggerService;
    readonly lifecycle: LifecycleService;
  }): LdapPool {
    const pool = new LdapPool(options);
    options.lifecycle.addShutdownHook(() => pool.close());
    return pool;
  }

  async search(
    search: LdapSearch,
    context: { readonly signal: AbortSignal },
  ): Promise<LdapSearchResult> {
    const endsAt = performance.now() + this.#timeoutMs;
    let sent = () => {};
    const sending = new Promise<void>(resolve => {
      sent = resolve;
    });
    const answer = this.#limit.execute(() => {
      // Whoever asked may have left while the question was queued.
      context.signal.throwIfAborted();
      return this.#ask(search, { endsAt, sent });
    });
    // The pages of a long answer have their own time each.
    const inTime = search.pageSize ? Promise.race([sending, answer]) : answer;
    try {
      await withDeadline<unknown>(inTime, {
        ms: this.#timeoutMs,
        error: tooSlow,
      });
      return await answer;
    } catch (error) {
      if (error instanceof BulkheadRejectedError) {
        throw new DirectoryUnavailableError(
          'Too many searches are waiting for the directory',
          { cause: error, reason: 'overloaded' },
        );
      }
      throw error;
    }
  }

  async verifyBind(): Promise<void> {
    let refused: unknown;
    for (const server of await this.#servers.inOrder()) {
      if (server.available) {
        try {
          await server.verifyBind();
          return;
        } catch (error) {
          if (!isRejectedBind(error)) {
            return;
          }
          refused = error;
        }
      }
    }
    if (refused) {
      throw refused;
    }
  }

  /** Whether a server is in use. */
  get reachability(): Reachability {
    return this.#servers.reachability;
  }

  /** Calls back when `reachability` changes; returns the unsubscribe function. */
  onReachability(listener: (reachability: Reachability) => void): () => void {
    return this.#servers.onReachability(listener);
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#servers.close();
  }

  /** Goes on as long as any server counts as being in use. */
  async #ask(
    search: LdapSearch,
    { endsAt, sent }: { readonly endsAt: number; readonly sent: () => void },
  ): Promise<LdapSearchResult> {
    const tries = new Map<LdapServer, number>();
    let sendings = 0;
    let failure: unknown;
    const beforeSending = () => {
      if (performance.now() >= endsAt) {
        // Nobody waits any more, and the server is not to blame for that.
        throw tooSlow();
      }
      sendings++;
      sent();
    };
    while (sendings < MAX_SENDINGS) {
      const server = await this.#leastTried(tries);
      if (!server) {
        break;
      }
      try {
        // The server has the whole time, however long the question was queued.
        const options = { timeoutMs: this.#timeoutMs, beforeSending };
        const entries = await server.search(search, options);
        return { entries, server: server.url };
      } catch (error) {
        if (!isConnectionFailure(error)) {
          throw error;
        }
        failure = error;
        // To wait a second time for one that is hung would be to no avail.
        const tried = isConnectTimeout(error)
          ? Infinity
          : tries.get(server) ?? 0;
        tries.set(server, tried + 1);
      }
    }
    throw new DirectoryUnavailableError('No directory server is available', {
      cause: failure,
      reason:
        this.#servers.reachability === 'refused' || isRejectedBind(failure)
          ? 'refused'
          : 'unreachable',
    });
  }

  /** The first server in use that was not tried yet, or least often. */
  async #leastTried(
    tries: ReadonlyMap<LdapServer, number>,
  ): Promise<LdapServer | undefined> {
    if (tries.size > 0) {
      // What broke one connection may have broken others: let that be known.
      await nextTurn();
    }
    const triesOf = (server: LdapServer) => tries.get(server) ?? 0;
    const [least] = [...(await this.#servers.inOrder())]
      .filter(server => server.available && triesOf(server) < Infinity)
      .sort((a, b) => triesOf(a) - triesOf(b));
    if (least && triesOf(least) > 0) {
      await sleep(PAUSES_MS.at(triesOf(least)) ?? PAUSES_MS.at(-1));
    }
    return least?.available ? least : undefined;
  }
}

function tooSlow(): DirectoryTimeoutError {
  return new DirectoryTimeoutError('The directory is too slow');
}
