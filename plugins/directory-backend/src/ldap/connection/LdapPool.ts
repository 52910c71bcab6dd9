import {
  bulkhead,
  BulkheadRejectedError,
  type BulkheadPolicy,
} from 'cockatiel';
import type { Entry } from 'ldapts';
import {
  setImmediate as yieldToEventLoop,
  setTimeout as sleep,
} from 'node:timers/promises';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import { withDeadline } from './ldapClient';
import type { LdapSearch } from './LdapConnection';
import {
  isConnectionFailure,
  isConnectTimeout,
  isRejectedBind,
} from './ldapErrors';
import type { LdapServer } from './LdapServer';
import { LdapServers, type LdapServersOptions } from './LdapServers';

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
   * @throws DirectoryUnavailableError with the reason `unreachable`, `refused`,
   *   `overloaded` or `response`.
   * @throws DirectoryTimeoutError
   */
  search(
    search: LdapSearch,
    context: { readonly signal: AbortSignal },
  ): Promise<LdapSearchResult>;
}

/** Context of searches that no caller aborts. */
export const NEVER_ABORTED = { signal: new AbortController().signal };

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

/** Pauses in milliseconds before further attempts on the same server. */
const PAUSES_MS = [0, 10, 20, 40, 80, 160];

/**
 * Searches the directory's servers, the current one first. A search that fails
 * with its connection is repeated, on another available server if possible. The
 * time in the queue and all attempts together do not exceed `operationTimeout`;
 * for a long search, this applies to each page.
 */
export class LdapPool implements LdapSearcher {
  /** Reports whether the directory is reachable. */
  readonly servers: LdapServers;
  readonly #timeoutMs: number;
  readonly #limit: BulkheadPolicy;

  /** Creates a pool that connects on the first search. */
  constructor(options: LdapServersOptions) {
    const { config } = options;
    this.servers = new LdapServers(options);
    this.#timeoutMs = config.operationTimeoutMs;
    this.#limit = bulkhead(
      config.maxConnections * config.pipelining,
      config.maxQueued,
    );
  }

  async search(
    search: LdapSearch,
    context: { readonly signal: AbortSignal },
  ): Promise<LdapSearchResult> {
    const expiresAt = performance.now() + this.#timeoutMs;
    let onSent = () => {};
    const sent = new Promise<void>(resolve => {
      onSent = resolve;
    });
    const result = this.#limit.execute(() => {
      // The caller may have disconnected while the search was queued.
      context.signal.throwIfAborted();
      return this.#attempt(search, { expiresAt, onSent });
    });
    // Each page of a long result has its own deadline.
    const inTime = search.pageSize ? Promise.race([sent, result]) : result;
    try {
      await withDeadline<unknown>(inTime, {
        ms: this.#timeoutMs,
        error: tooSlow,
      });
      return await result;
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
    let rejection: unknown;
    for (const server of await this.servers.inOrder()) {
      if (server.available) {
        try {
          await server.verifyBind();
          return;
        } catch (error) {
          if (!isRejectedBind(error)) {
            return;
          }
          rejection = error;
        }
      }
    }
    if (rejection) {
      throw rejection;
    }
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.servers.close();
  }

  /** Searches one server after another while any is available. */
  async #attempt(
    search: LdapSearch,
    options: { readonly expiresAt: number; readonly onSent: () => void },
  ): Promise<LdapSearchResult> {
    const failures = new Map<LdapServer, number>();
    let attempts = 0;
    let lastError: unknown;
    const beforeAttempt = () => {
      if (performance.now() >= options.expiresAt) {
        throw tooSlow();
      }
      attempts++;
      options.onSent();
    };
    while (attempts < MAX_ATTEMPTS) {
      const server = await this.#leastTried(failures);
      if (!server) {
        break;
      }
      try {
        const entries = await server.search(search, {
          // Does not include the time in the queue, which is not the server's
          // fault.
          timeoutMs: this.#timeoutMs,
          beforeAttempt,
        });
        return { entries, server: server.url };
      } catch (error) {
        if (!isConnectionFailure(error)) {
          throw error;
        }
        lastError = error;
        // A server that does not respond is tried only once.
        failures.set(
          server,
          isConnectTimeout(error) ? Infinity : (failures.get(server) ?? 0) + 1,
        );
      }
    }
    throw new DirectoryUnavailableError('No directory server is available', {
      cause: lastError,
      reason:
        this.servers.reachability === 'refused' || isRejectedBind(lastError)
          ? 'refused'
          : 'unreachable',
    });
  }

  /** Returns the first available server with the fewest failed attempts. */
  async #leastTried(
    failures: ReadonlyMap<LdapServer, number>,
  ): Promise<LdapServer | undefined> {
    if (failures.size > 0) {
      // Lets connections that failed together with the last one close first.
      await yieldToEventLoop();
    }
    const failuresOf = (server: LdapServer) => failures.get(server) ?? 0;
    const [least] = [...(await this.servers.inOrder())]
      .filter(server => server.available && failuresOf(server) < Infinity)
      .sort((a, b) => failuresOf(a) - failuresOf(b));
    if (least && failuresOf(least) > 0) {
      await sleep(PAUSES_MS.at(failuresOf(least)) ?? PAUSES_MS.at(-1));
    }
    return least?.available ? least : undefined;
  }
}

function tooSlow(): DirectoryTimeoutError {
  return new DirectoryTimeoutError('The directory did not respond in time');
}
