import { toError } from '@backstage/errors';
import { type Client, PersistentSearchControl, ResultCodeError } from 'ldapts';
import type { Socket } from 'node:net';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';
import { checkMessages } from './checkMessages';
import type { DistinguishedName } from './DistinguishedName';
import { isPresent } from './filters';
import {
  type LdapEndpoint,
  createClient,
  secureAndBind,
  withDeadline,
} from './ldapClient';
import { toDirectoryError } from './ldapErrors';
import { BerCursor } from './BerCursor';

/** Add, delete, modify and rename (draft-ietf-ldapext-psearch-03 §4). */
const ALL_CHANGES = 1 + 2 + 4 + 8;

/**
 * Result codes of a persistent search that the server does not allow:
 * unavailableCriticalExtension, insufficientAccessRights, unwillingToPerform.
 */
const NOT_ALLOWED: ReadonlySet<number> = new Set([12, 50, 53]);

/** What is listened to, and who hears it. */
export interface PersistentSearchOptions {
  readonly endpoint: LdapEndpoint;
  /** Changes at and below this entry are told. */
  readonly base: DistinguishedName;
  /** Milliseconds between two proofs that the other end is still there. */
  readonly heartbeatMs: number;
  readonly onChange: (notice: ChangeNotification) => void;
  /** Called once, unless {@link PersistentSearch.close} was before it. */
  readonly onLost: (error: Error) => void;
  /** Called instead of `onLost` when the server refuses a persistent search. */
  readonly onRefused: (error: Error) => void;
}

/**
 * A persistent search (draft-ietf-ldapext-psearch-03) on a connection of its
 * own: the directory tells of each change within milliseconds, and of what is
 * gone, which no other question does. It ends with its connection, and says
 * so; what changed until there is another one must be found by comparing.
 */
export class PersistentSearch {
  readonly #options: PersistentSearchOptions;
  readonly #client: Client;
  readonly #sockets: Socket[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #ended = false;
  #isRefused = false;

  private constructor(options: PersistentSearchOptions) {
    this.#options = options;
    this.#client = createClient(options.endpoint, socket => {
      this.#sockets.push(socket);
      socket.once('close', () =>
        this.#lose(new Error('The connection closed')),
      );
    });
    checkMessages(this.#client, {
      onJunk: error => this.#lose(error),
      isTaken: message => {
        const notice = readChangeNotification(message);
        if (notice && !this.#ended) {
          options.onChange(notice);
        }
        return notice !== undefined;
      },
    });
  }

  /** Every change after this has resolved is reported, unless refused. */
  static async open(options: PersistentSearchOptions): Promise<PersistentSearch> {
    const { url, connectTimeoutMs } = options.endpoint;
    const listener = new PersistentSearch(options);
    try {
      await withDeadline(listener.#start(), {
        ms: connectTimeoutMs,
        error: () => new DirectoryTimeoutError(`${url} does not answer`),
      });
    } catch (error) {
      if (listener.#isRefused) {
        return listener;
      }
      listener.close();
      const failure = toDirectoryError(error);
      throw new DirectoryUnavailableError(
        `${url} does not report its changes`,
        {
          cause: error,
          reason:
            failure instanceof DirectoryTimeoutError
              ? 'unreachable'
              : failure.reason,
        },
      );
    }
    return listener;
  }

  close(): void {
    this.#ended = true;
    clearInterval(this.#heartbeat);
    this.#client.unbind().catch(() => {});
    for (const socket of this.#sockets) {
      socket.on('error', () => {}).destroy();
    }
  }

  async #start(): Promise<void> {
    const { endpoint, base, heartbeatMs } = this.#options;
    await secureAndBind(this.#client, endpoint);
    const listening = this.#client.search(
      base,
      {
        scope: 'sub',
        filter: isPresent('objectClass'),
        attributes: ['1.1'],
      },
      new PersistentSearchControl({
        critical: true,
        value: {
          changeTypes: ALL_CHANGES,
          changesOnly: true,
          returnECs: true,
        },
      }),
    );
    // An answer means that it has ended, which it should not.
    listening.then(
      () => this.#lose(new Error('The server ended it')),
      error => this.#fail(toError(error)),
    );
    // Operations of a connection begin in order (RFC 4511 §3.1), so that by
    // the answer to a second one the first is under way.
    await this.#ask();
    this.#heartbeat = setInterval(() => {
      withDeadline(this.#ask(), {
        ms: endpoint.connectTimeoutMs,
        error: () => new DirectoryTimeoutError('It answers no more'),
      }).catch(error => this.#lose(toError(error)));
    }, heartbeatMs).unref();
  }

  async #ask(): Promise<void> {
    await this.#client.search('', {
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes: ['1.1'],
    });
  }

  /** The persistent search failed. */
  #fail(error: Error): void {
    const isRefused =
      error instanceof ResultCodeError && NOT_ALLOWED.has(error.code);
    if (isRefused && !this.#ended) {
      this.#isRefused = true;
      this.close();
      this.#options.onRefused(error);
    } else {
      this.#lose(error);
    }
  }

  #lose(error: Error): void {
    if (!this.#ended) {
      this.close();
      this.#options.onLost(error);
    }
  }
}

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const ENUMERATED = 0x0a;
const SEQUENCE = 0x30;
const SEARCH_ENTRY = 0x64;
const CONTROLS = 0xa0;

/** draft-ietf-ldapext-psearch-03 §5. */
const ENTRY_CHANGE_NOTIFICATION = '2.16.840.1.113730.3.4.7';

const kinds: ReadonlyMap<number, ChangeNotification['kind']> = new Map([
  [1, 'added'],
  [2, 'deleted'],
  [4, 'modified'],
  [8, 'renamed'],
]);

/** That an entry has changed. */
export interface ChangeNotification {
  readonly kind: 'added' | 'deleted' | 'modified' | 'renamed';
  /** The entry's name, its new one if it was renamed. */
  readonly dn: string;
  /** Its old name, if it was renamed. */
  readonly previousDn?: string;
}

/**
 * What a message that `checkLdapMessage` has passed says of a change;
 * `undefined` when it is about none. The library cannot read these: it gives
 * no entry away before a search has ended, and a persistent one does not end.
 *
 * @throws ProtocolError when the notification is not one of the protocol.
 */
export function readChangeNotification(message: Buffer): ChangeNotification | undefined {
  const cursor = new BerCursor(message);
  const end = cursor.enter(SEQUENCE, message.length);
  cursor.skip(INTEGER, end);
  if (cursor.peek(end) !== SEARCH_ENTRY) {
    return undefined;
  }
  const entryEnd = cursor.enter(SEARCH_ENTRY, end);
  const dn = cursor.readOctets(OCTET_STRING, entryEnd).toString();
  cursor.skipRest(entryEnd);
  const value = notificationIn(cursor, end);
  return value && { ...readNotification(value), dn };
}

function notificationIn(
  cursor: BerCursor,
  messageEnd: number,
): Buffer | undefined {
  const end =
    cursor.peek(messageEnd) === CONTROLS
      ? cursor.enter(CONTROLS, messageEnd)
      : cursor.at;
  while (cursor.at < end) {
    const controlEnd = cursor.enter(SEQUENCE, end);
    const oid = cursor.readOctets(OCTET_STRING, controlEnd).toString();
    if (cursor.peek(controlEnd) === BOOLEAN) {
      cursor.skip(BOOLEAN, controlEnd);
    }
    if (oid === ENTRY_CHANGE_NOTIFICATION) {
      return cursor.readOctets(OCTET_STRING, controlEnd);
    }
    cursor.skipRest(controlEnd);
  }
  return undefined;
}

/** `SEQUENCE { changeType, previousDN OPTIONAL, changeNumber OPTIONAL }`. */
function readNotification(value: Buffer): Omit<ChangeNotification, 'dn'> {
  const cursor = new BerCursor(value);
  const end = cursor.enter(SEQUENCE, value.length);
  const kind = kinds.get(cursor.readInteger(ENUMERATED, end));
  return {
    // What is new to us may be anything: look again.
    kind: kind ?? 'modified',
    ...(cursor.peek(end) === OCTET_STRING && {
      previousDn: cursor.readOctets(OCTET_STRING, end).toString(),
    }),
  };
}
