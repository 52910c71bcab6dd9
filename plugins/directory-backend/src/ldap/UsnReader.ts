import { trustedDn } from './connection/DistinguishedName';
import { isPresent } from './connection/filters';
import { NEVER_ABORTED } from './connection/LdapPool';
import { textOf } from './entryValues';
import type { LdapReader } from './LdapReader';

/** Milliseconds for which a USN is cached. */
const MAX_AGE_MS = 250;

/**
 * Milliseconds after which a write is visible even on an overloaded server. The
 * server assigns USNs to a write, and to the changes that its plugins make as
 * part of it, before the write is visible.
 */
const COMMIT_MS = 20_000;

/** Maximum delay of replication, except after an outage. */
const REPLICATION_MS = 10 * 60_000;

/** Maximum number of writes in progress at the first read of a server. */
const WRITES_IN_PROGRESS = 1000;

/** The USNs of a server. */
export interface UsnState {
  /** URL of the server. */
  readonly server: string;
  /** The last USN; `undefined` when the server has none. */
  readonly usn: number | undefined;
  /** Writes up to this USN are visible; later ones may still become visible. */
  readonly committedUsn: number | undefined;
  /** Writes up to this USN are older than the delay of replication. */
  readonly replicatedUsn: number | undefined;
  /** Time of the request, from `performance.now()`. */
  readonly requestedAt: number;
}

type ReadUsn = Pick<UsnState, 'server' | 'usn' | 'requestedAt'>;

interface UsnSample {
  readonly usn: number | undefined;
  readonly readAt: number;
}

/**
 * Reads the directory's `lastusn`, which grows with every write and deletion,
 * at most every 250 ms.
 */
export class UsnReader {
  readonly #reader: Pick<LdapReader, 'search'>;
  /**
   * The last sample that is older than the delay of replication and all later
   * ones, by server.
   */
  readonly #samples = new Map<string, readonly UsnSample[]>();
  #state: UsnState | undefined;
  #reading: Promise<UsnState> | undefined;

  constructor(options: { readonly reader: Pick<LdapReader, 'search'> }) {
    this.#reader = options.reader;
  }

  /** The last state; `undefined` before the first read. */
  get last(): UsnState | undefined {
    return this.#state;
  }

  async read(): Promise<UsnState> {
    const cached = this.#state;
    if (cached && performance.now() - cached.requestedAt < MAX_AGE_MS) {
      return cached;
    }
    this.#reading ??= this.#search().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #search(): Promise<UsnState> {
    const requestedAt = performance.now();
    const { entries, server } = await this.#reader.search(
      {
        base: trustedDn(''),
        scope: 'base',
        filter: isPresent('objectClass'),
        attributes: ['lastusn'],
      },
      // Shared by several callers.
      NEVER_ABORTED,
    );
    const text =
      entries[0] &&
      (textOf(entries[0], 'lastusn;userroot') ?? textOf(entries[0], 'lastusn'));
    const usn = text === undefined ? undefined : Number(text);
    this.#state = this.#update({ server, usn, requestedAt });
    return this.#state;
  }

  #update(read: ReadUsn): UsnState {
    const { server, usn, requestedAt } = read;
    const known = this.#samples.get(server);
    // A server that was restored from a backup starts again.
    const continues = (usn ?? 0) >= (known?.at(-1)?.usn ?? 0);
    const before = known && continues ? known : [firstSample(read)];
    /** Returns the last sample that is this old; the first one if none is. */
    const lastBefore = (ageMs: number) =>
      Math.max(
        before.findLastIndex(({ readAt }) => readAt <= requestedAt - ageMs),
        0,
      );
    const replicated = lastBefore(REPLICATION_MS);
    this.#samples.set(server, [
      ...before.slice(replicated),
      { usn, readAt: performance.now() },
    ]);
    return {
      ...read,
      committedUsn: before[lastBefore(COMMIT_MS)].usn,
      replicatedUsn: before[replicated].usn,
    };
  }
}

/** Returns a USN that was committed before the first read of a server. */
function firstSample({ usn, requestedAt }: ReadUsn): UsnSample {
  return {
    usn: usn === undefined ? undefined : Math.max(0, usn - WRITES_IN_PROGRESS),
    readAt: requestedAt,
  };
}
