import type { Socket } from 'node:net';
import { ResultCodeError, type Control, type Entry, type Filter } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import type { DistinguishedName } from './DistinguishedName';
import {
  createClient,
  secureAndBind,
  withDeadline,
  type LdapEndpoint,
  type SingleUseClient,
} from './ldapClient';
import { isRejectedBind, toDirectoryError, unreachable } from './ldapErrors';

/** A search. Filters are objects: text is never parsed as a filter. */
export interface LdapSearch {
  readonly base: DistinguishedName;
  readonly scope: 'base' | 'one' | 'sub';
  readonly filter: Filter;
  readonly attributes: readonly string[];
  /**
   * Maximum number of entries; further entries are omitted without an error.
   */
  readonly sizeLimit?: number;
  /** Entries per page (RFC 2696), for long results. */
  readonly pageSize?: number;
  /**
   * Called with the entries of each page, which are then not part of the
   * result, so that a long result is never in memory as a whole. After a
   * connection failure, the search restarts at the first page.
   */
  readonly onPage?: (
    entries: readonly Entry[],
    page: { readonly isFirst: boolean },
  ) => void | Promise<void>;
  readonly control?: Control;
}

/**
 * A bound LDAP connection. It is never reused after it was closed: the
 * reconnected client of ldapts would search anonymously, and the directory
 * would return fewer attributes instead of an error.
 */
export class LdapConnection {
  readonly #connection: SingleUseClient;
  readonly #closeListeners: (() => void)[] = [];
  #protocolError: Error | undefined;
  #pending = 0;
  #awaited = 0;
  #usedAt = performance.now();
  #state: 'open' | 'retired' | 'closed' = 'open';

  private constructor(
    endpoint: LdapEndpoint,
    onSocket?: (socket: Socket) => void,
  ) {
    this.#connection = createClient(endpoint, {
      onSocket,
      onClose: () => this.close(),
      onProtocolError: error => {
        this.#protocolError = error;
        this.close();
      },
    });
  }

  /**
   * Connects and binds before returning the connection, because an ldapts
   * client is not safe for concurrent use until then.
   *
   * @param onSocket - called for each socket when it starts to connect
   */
  static async open(
    endpoint: LdapEndpoint,
    onSocket?: (socket: Socket) => void,
  ): Promise<LdapConnection> {
    const connection = new LdapConnection(endpoint, onSocket);
    try {
      const { client } = connection.#connection;
      await withDeadline(secureAndBind(client, endpoint), {
        ms: endpoint.connectTimeoutMs,
        error: () =>
          new DirectoryTimeoutError(`${endpoint.url} does not respond`),
      });
    } catch (error) {
      connection.close();
      throw new DirectoryUnavailableError(
        `Could not connect and bind to ${endpoint.url}`,
        {
          cause: toDirectoryError(error),
          reason: isRejectedBind(error) ? 'refused' : 'unreachable',
        },
      );
    }
    return connection;
  }

  /** Whether new searches may be sent on the connection. */
  get usable(): boolean {
    const { client, isWritable } = this.#connection;
    // ldapts notices that the other end is closing only after it has closed.
    return this.#state === 'open' && client.isBound && isWritable;
  }

  /** Milliseconds since the last response, 0 while a search is pending. */
  get idleMs(): number {
    return this.#pending > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** Number of pending searches. */
  get pending(): number {
    return this.#pending;
  }

  /** Number of requests without a response. Each page is a request. */
  get awaited(): number {
    return this.#awaited;
  }

  /**
   * Sends one search and resolves with all its entries, never with only some.
   */
  async search(
    search: LdapSearch,
    options: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    if (!this.usable) {
      throw unreachable('The connection is closed');
    }
    this.#pending++;
    try {
      return await this.#send(search, options);
    } catch (error) {
      if (
        error instanceof ResultCodeError ||
        error instanceof DirectoryTimeoutError
      ) {
        throw toDirectoryError(error);
      }
      // The socket may still be open but must not be reused.
      this.close();
      throw toDirectoryError(this.#protocolError ?? error);
    } finally {
      this.#usedAt = performance.now();
      this.#pending--;
      this.#closeIfRetired();
    }
  }

  /** Rejects new searches and closes when no search is pending. */
  retire(): void {
    if (this.#state === 'open') {
      this.#state = 'retired';
      this.#closeIfRetired();
    }
  }

  /**
   * Registers a listener that is called once, when the connection is closed for
   * any reason.
   */
  onClose(listener: () => void): void {
    if (this.#state === 'closed') {
      listener();
    } else {
      this.#closeListeners.push(listener);
    }
  }

  /** Closes immediately; pending searches reject. */
  close(): void {
    if (this.#state !== 'closed') {
      this.#state = 'closed';
      this.#connection.destroy();
      for (const listener of this.#closeListeners) {
        listener();
      }
    }
  }

  #closeIfRetired(): void {
    if (this.#state === 'retired' && this.#pending === 0) {
      this.close();
    }
  }

  /**
   * Sends a search. Each page of a long result is a request with its own
   * deadline.
   */
  async #send(
    search: LdapSearch,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    const { client } = this.#connection;
    const { base, scope, filter, sizeLimit, pageSize, control } = search;
    const request = {
      scope,
      filter,
      sizeLimit,
      attributes: [...search.attributes],
      // The server also stops the search.
      timeLimit: Math.ceil(timeoutMs / 1000),
    };
    if (!pageSize) {
      const result = client.search(base, request, control);
      return (await this.#inTime(result, timeoutMs)).searchEntries;
    }
    const pages = client.searchPaginated(
      base,
      { ...request, paged: { pageSize } },
      control,
    );
    const entries: Entry[] = [];
    const keep = (some: readonly Entry[]) => void entries.push(...some);
    const { onPage = keep } = search;
    let isFirst = true;
    let page = await this.#inTime(pages.next(), timeoutMs);
    while (!page.done) {
      // The server prepares the next page in the meantime.
      const next = this.#inTime(pages.next(), timeoutMs);
      next.catch(() => {});
      await onPage(page.value.searchEntries, { isFirst });
      isFirst = false;
      page = await next;
    }
    return entries;
  }

  /**
   * Applies a deadline. The timeout of ldapts would destroy the socket and all
   * other pending searches on it.
   */
  async #inTime<T>(response: Promise<T>, ms: number): Promise<T> {
    this.#awaited++;
    try {
      return await withDeadline(response, {
        ms,
        error: () => {
          // Other pending searches may still receive their responses.
          this.retire();
          return new DirectoryTimeoutError(
            'The directory did not respond in time',
          );
        },
      });
    } finally {
      this.#awaited--;
    }
  }
}
