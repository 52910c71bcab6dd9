import { toError } from '@backstage/errors';
import { PersistentSearchControl, ResultCodeError } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import { BerCursor, tags } from './BerCursor';
import type { DistinguishedName } from './DistinguishedName';
import { isPresent } from './filters';
import {
  type LdapEndpoint,
  type SingleUseClient,
  createClient,
  secureAndBind,
  withDeadline,
} from './ldapClient';
import { toDirectoryError } from './ldapErrors';

/** Change types (draft-ietf-ldapext-psearch-03 §4). */
const DELETE = 2;
const RENAME = 8;

/** OID of the control (draft-ietf-ldapext-psearch-03 §5). */
const ENTRY_CHANGE_NOTIFICATION = '2.16.840.1.113730.3.4.7';

/**
 * Result codes for a persistent search that the server does not allow:
 * unavailableCriticalExtension, insufficientAccessRights, unwillingToPerform.
 */
const NOT_ALLOWED: ReadonlySet<number> = new Set([12, 50, 53]);

/** Options of {@link PersistentSearch}. */
export interface PersistentSearchOptions {
  readonly endpoint: LdapEndpoint;
  /** Base below which deletions are reported. */
  readonly base: DistinguishedName;
  /** Milliseconds between checks that the server responds. */
  readonly heartbeatMs: number;
  /** Called with the DN of a deleted entry, or the former DN of a renamed one. */
  readonly onDeleted: (dn: string) => void;
  /** Called once, unless {@link PersistentSearch.close} was called before. */
  readonly onLost: (error: Error) => void;
  /** Called instead of `onLost` when the server rejects the persistent search. */
  readonly onRejected: (error: Error) => void;
}

/**
 * A persistent search (draft-ietf-ldapext-psearch-03) on a dedicated
 * connection, which reports each deletion within milliseconds. Deletions after
 * its end are not reported.
 */
export class PersistentSearch {
  readonly #options: PersistentSearchOptions;
  readonly #connection: SingleUseClient;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isRejected = false;

  private constructor(options: PersistentSearchOptions) {
    this.#options = options;
    this.#connection = createClient(options.endpoint, {
      onClose: () => this.#fail(new Error('The connection was closed')),
      onProtocolError: error => this.#fail(error),
      handles: message => {
        const notification = readChangeNotification(message);
        if (notification?.deletedDn !== undefined && !this.#isClosed) {
          options.onDeleted(notification.deletedDn);
        }
        return notification !== undefined;
      },
    });
  }

  /**
   * Starts a search. Every deletion after this resolves is reported, unless the
   * server rejects the persistent search.
   */
  static async open(
    options: PersistentSearchOptions,
  ): Promise<PersistentSearch> {
    const { url, connectTimeoutMs } = options.endpoint;
    const search = new PersistentSearch(options);
    try {
      await withDeadline(search.#start(), {
        ms: connectTimeoutMs,
        error: () => new DirectoryTimeoutError(`${url} does not respond`),
      });
    } catch (error) {
      if (search.#isRejected) {
        return search;
      }
      search.close();
      const failure = toDirectoryError(error);
      throw new DirectoryUnavailableError(
        `The persistent search on ${url} failed`,
        {
          cause: error,
          reason:
            failure instanceof DirectoryTimeoutError
              ? 'unreachable'
              : failure.reason,
        },
      );
    }
    return search;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    this.#connection.destroy();
  }

  async #start(): Promise<void> {
    const { endpoint, base, heartbeatMs } = this.#options;
    const { client } = this.#connection;
    await secureAndBind(client, endpoint);
    client
      .search(
        base,
        {
          scope: 'sub',
          filter: isPresent('objectClass'),
          attributes: ['1.1'],
        },
        new PersistentSearchControl({
          critical: true,
          value: {
            changeTypes: DELETE + RENAME,
            changesOnly: true,
            returnECs: true,
          },
        }),
      )
      .then(
        () => this.#fail(new Error('The server ended the persistent search')),
        error => this.#fail(toError(error)),
      );
    // A server starts the operations of a connection in order (RFC 4511 §3.1):
    // with the second response, the persistent search has started.
    await this.#ping();
    this.#heartbeat = setInterval(() => {
      withDeadline(this.#ping(), {
        ms: endpoint.connectTimeoutMs,
        error: () => new DirectoryTimeoutError('The server does not respond'),
      }).catch(error => this.#fail(toError(error)));
    }, heartbeatMs).unref();
  }

  async #ping(): Promise<void> {
    await this.#connection.client.search('', {
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes: ['1.1'],
    });
  }

  #fail(error: Error): void {
    if (!this.#isClosed) {
      this.#isRejected =
        error instanceof ResultCodeError && NOT_ALLOWED.has(error.code);
      this.close();
      const { onLost, onRejected } = this.#options;
      (this.#isRejected ? onRejected : onLost)(error);
    }
  }
}

/**
 * Reads the change notification of a well-formed message; `undefined` when it
 * has none. ldapts returns entries only after the end of a search, and a
 * persistent search does not end.
 *
 * @throws ProtocolError when the notification is malformed.
 */
export function readChangeNotification(
  message: Buffer,
): { readonly deletedDn: string | undefined } | undefined {
  const cursor = new BerCursor(message);
  const end = cursor.enter(tags.sequence, message.length);
  cursor.skip(tags.integer, end);
  if (cursor.peek(end) !== tags.searchEntry) {
    return undefined;
  }
  const entryEnd = cursor.enter(tags.searchEntry, end);
  const dn = cursor.readOctets(tags.octetString, entryEnd).toString();
  cursor.skipRest(entryEnd);
  const value = findNotification(cursor, end);
  return value && { deletedDn: readDeletedDn(value, dn) };
}

/** Returns the value of the notification control in the message. */
function findNotification(
  cursor: BerCursor,
  messageEnd: number,
): Buffer | undefined {
  const end =
    cursor.peek(messageEnd) === tags.controls
      ? cursor.enter(tags.controls, messageEnd)
      : cursor.at;
  while (cursor.at < end) {
    const controlEnd = cursor.enter(tags.sequence, end);
    const oid = cursor.readOctets(tags.octetString, controlEnd).toString();
    cursor.skipOptional(tags.boolean, controlEnd);
    if (oid === ENTRY_CHANGE_NOTIFICATION) {
      return cursor.readOctets(tags.octetString, controlEnd);
    }
    cursor.skipRest(controlEnd);
  }
  return undefined;
}

/** `SEQUENCE { changeType, previousDN OPTIONAL, changeNumber OPTIONAL }`. */
function readDeletedDn(value: Buffer, dn: string): string | undefined {
  const cursor = new BerCursor(value);
  const end = cursor.enter(tags.sequence, value.length);
  if (cursor.readInteger(tags.enumerated, end) === DELETE) {
    return dn;
  }
  return cursor.peek(end) === tags.octetString
    ? cursor.readOctets(tags.octetString, end).toString()
    : undefined;
}
