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
  /** Time of the request, from `performance.now()`. */
  readonly requestedAt: number;
}

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
  /** The last committed sample and all later ones, by server. */
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

  #update(read: Omit<UsnState, 'committedUsn'>): UsnState {
    const { server, usn, requestedAt } = read;
    const known = this.#samples.get(server);
    // A server that was restored from a backup starts again.
    const continues = (usn ?? 0) >= (known?.at(-1)?.usn ?? 0);
    const before = known && continues ? known : [firstSample(read)];
    const committed = before.findLastIndex(
      ({ readAt }) => readAt <= requestedAt - COMMIT_MS,
    );
    const samples = [
      ...before.slice(Math.max(committed, 0)),
      { usn, readAt: performance.now() },
    ];
    this.#samples.set(server, samples);
    return { ...read, committedUsn: samples[0].usn };
  }
}

/** Returns a USN that was committed before the first read of a server. */
function firstSample({
  usn,
  requestedAt,
}: Omit<UsnState, 'committedUsn'>): UsnSample {
  return {
    usn: usn === undefined ? undefined : Math.max(0, usn - WRITES_IN_PROGRESS),
    readAt: requestedAt,
  };
}
