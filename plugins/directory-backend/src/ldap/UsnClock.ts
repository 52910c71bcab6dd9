import { textOf } from './entryValues';
import { isPresent } from './filters';
import { trustedDn } from './DistinguishedName';
import type { Asking, LdapReader } from './LdapReader';

/** How long a change number is believed. */
const MAX_AGE_MS = 250;

/** Where a server is in its history of writes. */
export interface UsnTime {
  /** The server's URL. */
  readonly server: string;
  /** The last update sequence number; `undefined` where it has no USN plugin. */
  readonly usn: number | undefined;
}

/**
 * The directory's `lastusn`, which moves with every write and delete: asked at
 * most every 250 ms, whoever wants to know.
 */
export class UsnClock {
  readonly #reader: LdapReader;
  #time: UsnTime | undefined;
  #readAt = -Infinity;
  #reading: Promise<UsnTime> | undefined;

  constructor(options: { readonly reader: LdapReader }) {
    this.#reader = options.reader;
  }

  /** Milliseconds for which an answer of {@link now} is believed. */
  static readonly maxAgeMs = MAX_AGE_MS;

  async now(asking: Asking): Promise<UsnTime> {
    if (this.#time && performance.now() - this.#readAt < MAX_AGE_MS) {
      return this.#time;
    }
    asking.signal.throwIfAborted();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<UsnTime> {
    const startedAt = performance.now();
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
    this.#time = { server, usn };
    this.#readAt = startedAt;
    return this.#time;
  }
}
