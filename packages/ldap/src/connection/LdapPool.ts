import { toError } from '@backstage/errors';
import type { Entry } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '@directory-gateway/directory-core';
import { withDeadline } from './ldapClient';
import type { LdapConfig } from './LdapConfig';
import type { LdapSearch } from './LdapConnection';
import { isConnectionFailure, isRejectedBind } from './ldapErrors';
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
   * @throws DirectoryUnavailableError with the reason `unreachable`, `refused`
   *   or `response`.
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

/**
 * Searches the directory's servers, the current one first. A search that fails
 * with its connection is repeated, on another available server if possible.
 *
 * A search without pages is a decision for which a request waits. The time in
 * the queue and all attempts together do not exceed `decisionTimeout`. Each page
 * of a long search has its own deadline, `operationTimeoutMs`.
 */
export class LdapPool implements LdapSearcher {
  /** Reports whether the directory is reachable. */
  readonly servers: LdapServers;
  readonly #config: LdapConfig;

  /** Creates a pool that connects on the first search. */
  constructor(options: LdapServersOptions) {
    this.servers = new LdapServers(options);
    this.#config = options.config;
  }

  async search(search: LdapSearch): Promise<LdapSearchResult> {
    const isLong = search.pageSize !== undefined;
    const { operationTimeoutMs, decisionTimeoutMs } = this.#config;
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
    for (const server of await this.servers.inOrder()) {
      if (server.available) {
        const error = await server.verifyBind().catch(toError);
        if (!isRejectedBind(error)) {
          return;
        }
        rejection = error;
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
    options: Parameters<LdapServer['search']>[1],
  ): Promise<LdapSearchResult> {
    let lastError: unknown;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const servers = (await this.servers.inOrder()).filter(
        server => server.available,
      );
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
        this.servers.reachability === 'refused' || isRejectedBind(lastError)
          ? 'refused'
          : 'unreachable',
    });
  }
}

function tooSlow(): DirectoryTimeoutError {
  return new DirectoryTimeoutError('The directory did not respond in time');
}
