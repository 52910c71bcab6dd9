import type { Socket } from 'node:net';
import {
  ResultCodeError,
  type Client,
  type Control,
  type Entry,
  type Filter,
} from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import { checkMessages } from './checkMessages';
import type { DistinguishedName } from './DistinguishedName';
import { createClient, secureAndBind, type LdapEndpoint } from './ldapClient';
import { isRejectedBind, toDirectoryError } from './ldapErrors';
import { withDeadline } from './ldapClient';

/** A search. Filters are objects: text is never parsed as a filter. */
export interface LdapSearch {
  readonly base: DistinguishedName;
  readonly scope: 'base' | 'one' | 'sub';
  readonly filter: Filter;
  readonly attributes: readonly string[];
  /** At most this many entries; more are cut off without an error. */
  readonly sizeLimit?: number;
  /** Entries the server sends at a time (RFC 2696), for long answers. */
  readonly pageSize?: number;
  /**
   * Takes the entries of each page as they come, and the answer has none: so
   * that a long answer is never in memory as a whole. A search whose
   * connection fails begins anew on another one, with its first page.
   */
  readonly onPage?: (
    entries: readonly Entry[],
    page: { readonly isFirst: boolean },
  ) => void | Promise<void>;
  readonly control?: Control;
}

/**
 * One bound LDAP connection with a single life: once it closes it is never
 * used again. The library would reconnect and go on searching anonymously,
 * which a directory answers with fewer attributes instead of an error.
 */
export class LdapConnection {
  readonly #client: Client;
  readonly #sockets: Socket[] = [];
  #junk: Error | undefined;
  readonly #closeListeners: (() => void)[] = [];
  #pending = 0;
  #awaited = 0;
  #usedAt = performance.now();
  #state: 'open' | 'retired' | 'closed' = 'open';

  private constructor(
    endpoint: LdapEndpoint,
    onSocket: (socket: Socket) => void,
  ) {
    this.#client = createClient(endpoint, socket => {
      this.#sockets.push(socket);
      onSocket(socket);
      socket.once('close', () => this.close());
    });
    checkMessages(this.#client, {
      onJunk: error => {
        this.#junk = error;
        this.close();
      },
    });
  }

  /**
   * Connects, secures and binds, and only then hands out the connection: a
   * cold client of the library is not safe for concurrent use.
   *
   * `onSocket` receives each socket when it starts to connect.
   */
  static async open(
    endpoint: LdapEndpoint,
    onSocket: (socket: Socket) => void = () => {},
  ): Promise<LdapConnection> {
    const connection = new LdapConnection(endpoint, onSocket);
    try {
      // A deadline of our own, for all steps together.
      await withDeadline(secureAndBind(connection.#client, endpoint), {
        ms: endpoint.connectTimeoutMs,
        error: () =>
          new DirectoryTimeoutError(`${endpoint.url} does not answer`),
      });
    } catch (error) {
      connection.close();
      // Whatever it was, a refused bind too, this server is of no use now.
      throw new DirectoryUnavailableError(
        `${endpoint.url} cannot be connected to and bound`,
        {
          cause: toDirectoryError(error),
          reason: isRejectedBind(error) ? 'refused' : 'unreachable',
        },
      );
    }
    return connection;
  }

  /** Whether new searches may be sent on it. */
  get usable(): boolean {
    return (
      this.#state === 'open' &&
      this.#client.isBound &&
      // The library learns that the other end is leaving when it has left.
      this.#sockets.at(-1)?.writable === true
    );
  }

  /** Milliseconds since it last answered, 0 while a search is pending. */
  get idleMs(): number {
    return this.#pending > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** Searches that wait for their answer. */
  get pending(): number {
    return this.#pending;
  }

  /** Requests that the server has not answered; of a long search, pages. */
  get awaited(): number {
    return this.#awaited;
  }

  /**
   * Sends one search and resolves with all its entries, or rejects: never
   * with a part of them.
   */
  async search(
    search: LdapSearch,
    options: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    if (!this.usable) {
      throw new DirectoryUnavailableError('The connection is closed', {
        reason: 'unreachable',
      });
    }
    this.#pending++;
    try {
      return await this.#entries(search, options);
    } catch (error) {
      if (
        error instanceof ResultCodeError ||
        error instanceof DirectoryTimeoutError
      ) {
        throw toDirectoryError(error);
      }
      // The socket may still be about to close: nobody else should meet it.
      this.close();
      throw toDirectoryError(this.#junk ?? error);
    } finally {
      this.#usedAt = performance.now();
      this.#pending--;
      if (this.#state === 'retired' && this.#pending === 0) {
        this.close();
      }
    }
  }

  /** Takes no new search, and closes when the pending ones have ended. */
  retire(): void {
    if (this.#state === 'open') {
      this.#state = 'retired';
      if (this.#pending === 0) {
        this.close();
      }
    }
  }

  /** Calls back once, when the connection is closed, however that came. */
  onClose(listener: () => void): void {
    if (this.#state === 'closed') {
      listener();
    } else {
      this.#closeListeners.push(listener);
    }
  }

  /** Closes at once; pending searches reject. */
  close(): void {
    if (this.#state !== 'closed') {
      this.#state = 'closed';
      // Takes leave if it still can. The library would wait for the system to
      // take these bytes, which it does not when the other end has hung.
      this.#client.unbind().catch(() => {});
      for (const socket of this.#sockets) {
        // The library has let go of a socket whose handshake failed.
        socket.on('error', () => {}).destroy();
      }
      for (const listener of this.#closeListeners) {
        listener();
      }
    }
  }

  /** Each page of a long answer is a request of its own, and has its own time. */
  async #entries(
    search: LdapSearch,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Entry[]> {
    const { base, scope, filter, sizeLimit, pageSize, control } = search;
    const request = {
      scope,
      filter,
      sizeLimit,
      attributes: [...search.attributes],
      // So that the server does not go on for nobody.
      timeLimit: Math.ceil(timeoutMs / 1000),
    };
    if (!pageSize) {
      const asked = this.#client.search(base, request, control);
      return (await this.#inTime(asked, timeoutMs)).searchEntries;
    }
    const pages = this.#client.searchPaginated(
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
      // The server goes on while this page is taken in.
      const next = this.#inTime(pages.next(), timeoutMs);
      next.catch(() => {});
      await onPage(page.value.searchEntries, { isFirst });
      isFirst = false;
      page = await next;
    }
    return entries;
  }

  /**
   * A deadline of our own: the library's timeout destroys the socket and with
   * it every other search that is under way on it.
   */
  async #inTime<T>(work: Promise<T>, ms: number): Promise<T> {
    this.#awaited++;
    try {
      return await withDeadline(work, {
        ms,
        error: () => {
          // Its neighbours may still be answered, but nothing new is sent.
          this.retire();
          return new DirectoryTimeoutError('The directory is too slow');
        },
      });
    } finally {
      this.#awaited--;
    }
  }
}
