import { trustedDn } from './DistinguishedName';
import { textOf } from './entryValues';
import { isPresent } from './filters';
import type { Asking, LdapReader } from './LdapReader';

/** How long a change number is believed. */
const MAX_AGE_MS = 250;

/** How long a write may take from its first number until all can see it. */
const SETTLING_MS = 2000;

/** Where a server is in its history of writes. */
export interface UsnTime {
  /** The server's URL. */
  readonly server: string;
  /**
   * Numbers of different eras have nothing to do with each other: another
   * server counts on its own, and so does one that was restored from a backup.
   */
  readonly era: number;
  /** The last update sequence number; `undefined` where it has no USN plugin. */
  readonly usn: number | undefined;
  /**
   * The number from which writes must be read again. The server counts the
   * changes that its plugins make inside a write before the write itself can
   * be seen, under a lower number than they have: read once, it is lost.
   */
  readonly settledUsn: number | undefined;
  /** When the server was asked, on the clock of `performance.now()`. */
  readonly askedAt: number;
}

interface Reading {
  readonly usn: number | undefined;
  readonly readAt: number;
}

/**
 * The directory's `lastusn`, which moves with every write and delete: asked at
 * most every 250 ms, whoever wants to know.
 */
export class UsnClock {
  readonly #reader: LdapReader;
  #time: UsnTime | undefined;
  /** Of this era: the last settled one, and all after it. */
  #readings: readonly Reading[] = [];
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
    const last = this.#time;
    const goesOn =
      last?.server === read.server && (read.usn ?? 0) >= (last.usn ?? 0);
    const before = goesOn ? this.#readings : [];
    const settled = before.findLastIndex(
      ({ readAt }) => readAt <= read.askedAt - SETTLING_MS,
    );
    this.#readings = [
      ...before.slice(Math.max(settled, 0)),
      { usn: read.usn, readAt: performance.now() },
    ];
    return {
      ...read,
      era: (last?.era ?? 0) + (goesOn ? 0 : 1),
      settledUsn: this.#readings[0].usn,
    };
  }
}
