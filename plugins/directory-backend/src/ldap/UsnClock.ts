import { trustedDn } from './DistinguishedName';
import { textOf } from './entryValues';
import { isPresent } from './filters';
import type { Asking, LdapReader } from './LdapReader';

/** How long a change number is believed. */
const MAX_AGE_MS = 250;

/**
 * How long a write may take from its first number until all can see it, on a
 * directory that is overloaded.
 */
const SETTLING_MS = 20_000;

/** The same where nothing else is to do. */
const QUIET_MS = 2000;

/** More writes than are on their way when a server is first asked. */
const NUMBERS_BEFORE = 1000;

/** Where a server is in its history of writes. */
export interface UsnTime {
  /** The server's URL. */
  readonly server: string;
  /**
   * USNs of different epochs cannot be compared: each server counts on its own,
   * and again after it was restored from a backup. A server that responds again
   * after another one continues its epoch.
   */
  readonly epoch: number;
  /** The last update sequence number; `undefined` where it has no USN plugin. */
  readonly usn: number | undefined;
  /**
   * All up to this number can be seen; what comes late is after it. The server
   * counts a write, and the changes that its plugins make inside of it, before
   * the write can be seen.
   */
  readonly committedUsn: number | undefined;
  /** Whether nothing has been counted for two seconds. */
  readonly isQuiet: boolean;
  /** When the server was asked, on the clock of `performance.now()`. */
  readonly askedAt: number;
}

interface Reading {
  readonly usn: number | undefined;
  readonly readAt: number;
}

/** What is known of one server's USNs. */
interface History {
  readonly epoch: number;
  /** The last reading that is committed, and all after it. */
  readonly readings: readonly Reading[];
}

/**
 * The directory's `lastusn`, which moves with every write and delete: asked at
 * most every 250 ms, whoever wants to know.
 */
export class UsnClock {
  readonly #reader: LdapReader;
  #time: UsnTime | undefined;
  readonly #histories = new Map<string, History>();
  #epochs = 0;
  #reading: Promise<UsnTime> | undefined;

  constructor(options: { readonly reader: LdapReader }) {
    this.#reader = options.reader;
  }

  /** Milliseconds for which an answer of {@link now} is believed. */
  static readonly maxAgeMs = MAX_AGE_MS;

  async now(asking: Asking): Promise<UsnTime> {
    if (this.#time && performance.now() - this.#time.askedAt < MAX_AGE_MS) {
      return this.#time;
    }
    asking.signal.throwIfAborted();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<UsnTime> {
    const askedAt = performance.now();
    const { entries, server } = await this.#reader.search(
      {
        base: trustedDn(''),
        scope: 'base',
        filter: isPresent('objectClass'),
        attributes: ['lastusn'],
      },
      // Several callers wait for one reading: nobody's leaving ends it.
      { signal: new AbortController().signal },
    );
    const text =
      entries[0] &&
      (textOf(entries[0], 'lastusn;userroot') ?? textOf(entries[0], 'lastusn'));
    const usn = text === undefined ? undefined : Number(text);
    this.#time = this.#tick({ server, usn, askedAt });
    return this.#time;
  }

  #tick(read: Pick<UsnTime, 'server' | 'usn' | 'askedAt'>): UsnTime {
    const last = this.#histories.get(read.server);
    const continues = (read.usn ?? 0) >= (last?.readings.at(-1)?.usn ?? 0);
    const { epoch, readings: before } =
      last && continues
        ? last
        : { epoch: ++this.#epochs, readings: [beforeAll(read)] };
    const committed = lastBefore(before, read.askedAt - SETTLING_MS);
    const quiet = lastBefore(before, read.askedAt - QUIET_MS);
    const readings = [
      ...before.slice(committed),
      { usn: read.usn, readAt: performance.now() },
    ];
    this.#histories.set(read.server, { epoch, readings });
    return {
      ...read,
      epoch,
      committedUsn: readings[0].usn,
      isQuiet: before[quiet].usn === read.usn,
    };
  }
}

/** What must have been counted long before a server was asked at first. */
function beforeAll({
  usn,
  askedAt,
}: Pick<UsnTime, 'usn' | 'askedAt'>): Reading {
  return {
    usn: usn === undefined ? undefined : Math.max(0, usn - NUMBERS_BEFORE),
    readAt: askedAt,
  };
}

/** Where the last reading before a time is, or the first of all. */
function lastBefore(readings: readonly Reading[], time: number): number {
  const index = readings.findLastIndex(({ readAt }) => readAt <= time);
  return Math.max(index, 0);
}
