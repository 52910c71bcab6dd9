import { bulkhead } from 'cockatiel';
import {
  type Client,
  type Control,
  type Entry,
  type Filter,
  ResultCodeError,
} from 'ldapts';
import type { Socket } from 'node:net';
import { DirectoryTimeoutError } from '@directory-gateway/directory-core';
import type { DistinguishedName } from './DistinguishedName';
import {
  bind,
  connectClient,
  type ConnectedClient,
  type LdapEndpoint,
  withDeadline,
} from './ldapClient';
import { toConnectError, toDirectoryError, unreachable } from './ldapErrors';

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

/** Options of {@link LdapConnection}. */
interface LdapConnectionOptions {
  readonly url: string;
  /** Reads the parameters of the connection. */
  readonly endpoint: () => Promise<LdapEndpoint>;
  /** Maximum time in milliseconds to connect and bind. */
  readonly connectTimeoutMs: number;
  /** Called when bytes of the server arrive. */
  readonly onData: () => void;
}

interface RequestOptions {
  readonly timeoutMs: number;
  /**
   * Called when the request is next. An error that it throws prevents the request
   * and does not close the connection.
   */
  readonly beforeSend?: () => void;
}

/**
 * An LDAP connection that is bound before it is used, and never used again after
 * its first error: the reconnected client of ldapts would search anonymously,
 * and the directory would return fewer attributes instead of an error.
 *
 * One request is pending at a time, for which 389 Directory Server is fastest.
 * Others wait in order; pages of concurrent searches alternate.
 */
export class LdapConnection {
  readonly #options: LdapConnectionOptions;
  readonly #sockets: Socket[] = [];
  readonly #turns = bulkhead(1, Infinity);
  /** Resolves when the connection is bound. */
  readonly opened: Promise<unknown>;
  #connected: ConnectedClient | undefined;
  #error: Error | undefined;
  #isAbandoned = false;

  /** Starts to connect. */
  constructor(options: LdapConnectionOptions) {
    this.#options = options;
    this.opened = this.#open();
  }

  /** Whether the connection has failed or was closed. */
  get isClosed(): boolean {
    return (
      this.#error !== undefined || this.#connected?.socket.isOpen === false
    );
  }

  /** Whether it was closed because a caller could not process a page. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /**
   * Sends one search and resolves with all its entries, never with only some.
   */
  async search(
    search: LdapSearch,
    options: RequestOptions,
  ): Promise<readonly Entry[]> {
    const { base, pageSize, control } = search;
    const request = {
      scope: search.scope,
      filter: search.filter,
      sizeLimit: search.sizeLimit,
      attributes: [...search.attributes],
      // The server also stops the search.
      timeLimit: Math.ceil(options.timeoutMs / 1000),
    };
    if (!pageSize) {
      const { entries } = await this.#request(options, client =>
        client.search(base, request, control),
      );
      return entries;
    }
    const paged = { ...request, paged: { pageSize } };
    let pages: AsyncGenerator | undefined;
    const next = (beforeSend?: () => void) => {
      const page = this.#request({ ...options, beforeSend }, client => {
        pages ??= client.searchPaginated(base, paged, control);
        return pages.next();
      });
      page.catch(() => {});
      return page;
    };
    const all: Entry[] = [];
    const keep = (some: readonly Entry[]) => void all.push(...some);
    const { onPage = keep } = search;
    let page = await next(options.beforeSend);
    for (let isFirst = true; !page.result.done; isFirst = false) {
      // The server prepares the next page in the meantime.
      const following = next();
      try {
        await onPage(page.entries, { isFirst });
      } catch (error) {
        // The server would keep the rest of the search.
        this.#isAbandoned = true;
        this.close(unreachable('A page could not be processed', error));
        throw toDirectoryError(error);
      }
      page = await following;
    }
    return all;
  }

  /** Closes immediately; pending searches reject with the error. */
  close(error: Error): void {
    if (!this.#error) {
      this.#error = error;
      this.#connected?.client.unbind().catch(() => {});
      for (const socket of this.#sockets) {
        socket.destroy();
      }
    }
  }

  async #open(): Promise<void> {
    const { url, endpoint, connectTimeoutMs, onData } = this.#options;
    const connect = async () => {
      const parameters = await endpoint();
      if (this.#error) {
        throw this.#error;
      }
      const connected = await connectClient(parameters, socket => {
        this.#sockets.push(socket);
        // An accepted TCP connection does not count: the kernel accepts it even
        // for a stopped process.
        socket.on('secureConnect', onData).on('data', onData);
        socket.on('error', () => {});
      });
      await bind(connected.client, parameters);
      return connected;
    };
    try {
      const connected = await withDeadline(connect(), {
        ms: connectTimeoutMs,
        error: () => new DirectoryTimeoutError(`${url} does not respond`),
      });
      const { socket } = connected;
      this.#connected = connected;
      socket.once('close', () =>
        this.close(unreachable('The connection was closed', socket.errored)),
      );
    } catch (error) {
      const failure = toConnectError(url, this.#error ?? error);
      this.close(failure);
      throw failure;
    }
  }

  /**
   * Sends one request when it is next, and returns its entries. Closes the
   * connection unless the server responds.
   */
  async #request<T>(
    { timeoutMs, beforeSend }: RequestOptions,
    send: (client: Client) => Promise<T>,
  ): Promise<{ readonly result: T; readonly entries: readonly Entry[] }> {
    await this.opened;
    return await this.#turns.execute(async () => {
      if (this.isClosed) {
        throw this.#error ?? unreachable('The connection was closed');
      }
      beforeSend?.();
      const { client, socket } = this.#connected!;
      try {
        const result = await withDeadline(send(client), {
          ms: timeoutMs,
          error: () =>
            new DirectoryTimeoutError('The directory did not respond in time'),
        });
        return { result, entries: socket.takeEntries() };
      } catch (error) {
        if (error instanceof ResultCodeError) {
          throw toDirectoryError(error);
        }
        const failure = toDirectoryError(socket.errored ?? error);
        if (failure instanceof DirectoryTimeoutError) {
          // Waiting requests can be repeated.
          this.close(
            unreachable('Another request on the connection timed out'),
          );
          throw failure;
        }
        this.close(failure);
        throw this.#error;
      }
    });
  }
}
