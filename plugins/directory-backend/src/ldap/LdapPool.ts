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
import type { LdapConfig } from './LdapConfig';
import { DirectoryUnavailableError } from '../directory/errors';
import type { LdapSearch } from './LdapConnection';
import { isConnectionFailure } from './ldapErrors';
import type { LdapServer } from './LdapServer';
import { LdapServers, type SrvResolver } from './LdapServers';

/** Answers searches: what `LdapDirectory` needs of a directory's servers. */
export interface LdapSearcher {
  /**
   * All entries that a search finds, and which server found them.
   *
   * Rejects with `DirectoryUnavailableError` or `DirectoryTimeoutError`.
   */
  search(
    search: LdapSearch,
    context: { readonly signal: AbortSignal },
  ): Promise<LdapAnswer>;
}

/** What one server answered to a search. */
export interface LdapAnswer {
  readonly entries: readonly Entry[];
  /** The server's URL: its change numbers mean nothing on another server. */
  readonly server: string;
}

/**
 * The directory's servers in the configured order. A read that fails with its
 * connection is tried once more, on the next server that is in use; reads
 * change nothing, so that is safe.
 */
export class LdapPool implements LdapSearcher {
  readonly #servers: LdapServers;
  readonly #timeoutMs: number;
  readonly #limit: BulkheadPolicy;

  constructor(options: {
    readonly config: LdapConfig;
    readonly logger: LoggerService;
    readonly resolver?: SrvResolver;
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
  ): Promise<LdapAnswer> {
    try {
      return await this.#limit.execute(() => this.#ask(search, context.signal));
    } catch (error) {
      if (error instanceof BulkheadRejectedError) {
        throw new DirectoryUnavailableError(
          'Too many questions wait for the directory',
          error,
        );
      }
      throw error;
    }
  }

  /** Closes every connection; pending searches reject. */
  close(): void {
    this.#servers.close();
  }

  async #ask(search: LdapSearch, signal: AbortSignal): Promise<LdapAnswer> {
    // Whoever asked may have left while the question was queued.
    signal.throwIfAborted();
    const [first, second = first] = await this.#candidates();
    try {
      return await this.#askServer(first, search);
    } catch (error) {
      if (!isConnectionFailure(error) || !second.available) {
        throw error;
      }
      return this.#askServer(second, search);
    }
  }

  async #askServer(
    server: LdapServer,
    search: LdapSearch,
  ): Promise<LdapAnswer> {
    const entries = await server.search(search, { timeoutMs: this.#timeoutMs });
    return { entries, server: server.url };
  }

  /** Servers in use in their order, or all of them when none is. */
  async #candidates(): Promise<readonly LdapServer[]> {
    const servers = await this.#servers.inOrder();
    const available = servers.filter(server => server.available);
    return available.length > 0 ? available : servers;
  }
}
