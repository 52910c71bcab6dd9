import type { ReplicaPosition } from '../replica/sync/ReplicaSource';
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

interface UsnSample {
  readonly usn: number | undefined;
  readonly readAt: number;
}

/** The samples of one server. */
interface UsnHistory {
  /**
   * Each server has its own USNs, which start a new epoch after it is restored
   * from a backup. A server that responds again after another server continues
   * its epoch.
   */
  readonly epoch: number;
  /** The last committed sample and all later ones. */
  readonly samples: readonly UsnSample[];
}

/**
 * Reads the directory's `lastusn`, which grows with every write and deletion,
 * at most every 250 ms.
 */
export class UsnReader {
  readonly #reader: Pick<LdapReader, 'search'>;
  readonly #histories = new Map<string, UsnHistory>();
  #position: ReplicaPosition | undefined;
  #epochs = 0;
  #reading: Promise<ReplicaPosition> | undefined;

  constructor(options: { readonly reader: Pick<LdapReader, 'search'> }) {
    this.#reader = options.reader;
  }

  async read(): Promise<ReplicaPosition> {
    const cached = this.#position;
    if (cached && performance.now() - cached.requestedAt < MAX_AGE_MS) {
      return cached;
    }
    this.#reading ??= this.#search().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #search(): Promise<ReplicaPosition> {
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
    this.#position = this.#update({ server, usn, requestedAt });
    return this.#position;
  }

  #update(
    read: Pick<ReplicaPosition, 'server' | 'usn' | 'requestedAt'>,
  ): ReplicaPosition {
    const { server, usn, requestedAt } = read;
    const known = this.#histories.get(server);
    const continues = (usn ?? 0) >= (known?.samples.at(-1)?.usn ?? 0);
    const { epoch, samples: before } =
      known && continues
        ? known
        : { epoch: ++this.#epochs, samples: [firstSample(read)] };
    const committed = before.findLastIndex(
      ({ readAt }) => readAt <= requestedAt - COMMIT_MS,
    );
    const samples = [
      ...before.slice(Math.max(committed, 0)),
      { usn, readAt: performance.now() },
    ];
    this.#histories.set(server, { epoch, samples });
    return { ...read, epoch, committedUsn: samples[0].usn };
  }
}

/** Returns a USN that was committed before the first read of a server. */
function firstSample({
  usn,
  requestedAt,
}: Pick<ReplicaPosition, 'usn' | 'requestedAt'>): UsnSample {
  return {
    usn: usn === undefined ? undefined : Math.max(0, usn - WRITES_IN_PROGRESS),
    readAt: requestedAt,
  };
}
