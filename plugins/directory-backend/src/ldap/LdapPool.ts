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
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../directory/errors';
import type { LdapConnection, LdapSearch } from './LdapConnection';
import { isConnectionFailure } from './ldapErrors';
import type { LdapServer } from './LdapServer';
import { LdapServers, type SrvResolver } from './LdapServers';
import { withDeadline } from './withDeadline';

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

/** A question is sent once, and once more when its connection is lost. */
const MAX_SENDINGS = 2;

/**
 * The directory's servers in the configured order. A read that fails with its
 * connection is tried once more, on the next server that is in use; reads
 * change nothing, so that is safe. A server that cannot be connected to has
 * not been asked, and the next one is. All of it, and the waiting for a turn,
 * takes no longer than the time for one operation.
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
    const endsAt = performance.now() + this.#timeoutMs;
    const answer = this.#limit.execute(() => {
      // Whoever asked may have left while the question was queued.
      context.signal.throwIfAborted();
      return this.#ask(search, endsAt);
    });
    try {
      return await withDeadline(answer, {
        ms: this.#timeoutMs,
        error: tooSlow,
      });
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

  async #ask(search: LdapSearch, endsAt: number): Promise<LdapAnswer> {
    const unreachable = new Set<LdapServer>();
    let failure: unknown;
    let sendings = 0;
    let server = await this.#next({ unreachable });
    while (server && sendings < MAX_SENDINGS) {
      try {
        const connection = await connect(server, unreachable);
        if (performance.now() >= endsAt) {
          // Nobody waits any more, and the server is not to blame for that.
          throw tooSlow();
        }
        sendings++;
        // The server has the whole time, however long the question was queued.
        const timeoutMs = this.#timeoutMs;
        const entries = await server.search(connection, search, { timeoutMs });
        return { entries, server: server.url };
      } catch (error) {
        if (!isConnectionFailure(error)) {
          throw error;
        }
        failure = error;
        server = await this.#next({ unreachable, last: server });
      }
    }
    throw failure ?? new DirectoryUnavailableError('No server is in use');
  }

  /** The first server in use, another one than the last if there is any. */
  async #next(past: {
    readonly unreachable: ReadonlySet<LdapServer>;
    readonly last?: LdapServer;
  }): Promise<LdapServer | undefined> {
    const servers = await this.#servers.inOrder();
    const left = servers.filter(
      server => server.available && !past.unreachable.has(server),
    );
    return left.find(server => server !== past.last) ?? left[0];
  }
}

function tooSlow(): DirectoryTimeoutError {
  return new DirectoryTimeoutError('The directory is too slow');
}

async function connect(
  server: LdapServer,
  unreachable: Set<LdapServer>,
): Promise<LdapConnection> {
  try {
    return await server.connect();
  } catch (error) {
    unreachable.add(server);
    throw error;
  }
}
