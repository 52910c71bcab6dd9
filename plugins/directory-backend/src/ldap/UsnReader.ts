import type { ReplicaPosition } from '../replica/sync/ReplicaSource';
import { trustedDn } from './connection/DistinguishedName';
import { textOf } from './entryValues';
import { isPresent } from './connection/filters';
import { NEVER_ABORTED, type LdapReader } from './LdapReader';

/** Milliseconds for which a USN is cached. */
const MAX_AGE_MS = 250;

/**
 * Milliseconds until a write is visible, on an overloaded server. The server
 * counts a write, and the changes that its plugins make as part of it, before
 * it is visible.
 */
const SETTLING_MS = 20_000;

/** More writes than are in progress when a server is read for the first time. */
const NUMBERS_BEFORE = 1000;

interface Reading {
  readonly usn: number | undefined;
  readonly readAt: number;
}

/** What is known of one server's USNs. */
interface History {
  /**
   * Each server counts on its own, and again after it was restored from a
   * backup. A server that responds again after another one continues its epoch.
   */
  readonly epoch: number;
  /** The last reading that is committed, and all after it. */
  readonly readings: readonly Reading[];
}

/**
 * Reads the directory's `lastusn`, which grows with every write and deletion,
 * at most every 250 ms.
 */
export class UsnReader {
  readonly #reader: LdapReader;
  #time: ReplicaPosition | undefined;
  readonly #histories = new Map<string, History>();
  #epochs = 0;
  #reading: Promise<ReplicaPosition> | undefined;

  constructor(options: { readonly reader: LdapReader }) {
    this.#reader = options.reader;
  }

  async now(): Promise<ReplicaPosition> {
    if (this.#time && performance.now() - this.#time.requestedAt < MAX_AGE_MS) {
      return this.#time;
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<ReplicaPosition> {
    const requestedAt = performance.now();
    const { entries, server } = await this.#reader.search(
      {
        base: trustedDn(''),
        scope: 'base',
        filter: isPresent('objectClass'),
        attributes: ['lastusn'],
      },
      // Several callers may wait for it.
      NEVER_ABORTED,
    );
    const text =
      entries[0] &&
      (textOf(entries[0], 'lastusn;userroot') ?? textOf(entries[0], 'lastusn'));
    const usn = text === undefined ? undefined : Number(text);
    this.#time = this.#tick({ server, usn, requestedAt });
    return this.#time;
  }

  #tick(read: Pick<ReplicaPosition, 'server' | 'usn' | 'requestedAt'>): ReplicaPosition {
    const last = this.#histories.get(read.server);
    const continues = (read.usn ?? 0) >= (last?.readings.at(-1)?.usn ?? 0);
    const { epoch, readings: before } =
      last && continues
        ? last
        : { epoch: ++this.#epochs, readings: [beforeAll(read)] };
    const committed = lastBefore(before, read.requestedAt - SETTLING_MS);
    const readings = [
      ...before.slice(committed),
      { usn: read.usn, readAt: performance.now() },
    ];
    this.#histories.set(read.server, { epoch, readings });
    return {
      ...read,
      epoch,
      committedUsn: readings[0].usn,
    };
  }
}

/** What must have been counted long before a server was asked at first. */
function beforeAll({
  usn,
  requestedAt,
}: Pick<ReplicaPosition, 'usn' | 'requestedAt'>): Reading {
  return {
    usn: usn === undefined ? undefined : Math.max(0, usn - NUMBERS_BEFORE),
    readAt: requestedAt,
  };
}

/** Where the last reading before a time is, or the first of all. */
function lastBefore(readings: readonly Reading[], time: number): number {
  const index = readings.findLastIndex(({ readAt }) => readAt <= time);
  return Math.max(index, 0);
}
