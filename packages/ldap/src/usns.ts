import { trustedDn } from './connection/DistinguishedName';
import { isPresent } from './connection/filters';
import { textOf } from './entryValues';
import type { LdapReader } from './LdapReader';

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

/** Maximum number of new USNs to look up. Above it, some are unexplained. */
const MAX_EXPLAINED_USNS = 1000;

/** Minimum interval between searches for the entries that carry new USNs. */
const EXPLAIN_INTERVAL_MS = 1000;

/** The USNs of a server, as a position contains them. */
export interface UsnState {
  /** URL of the server. */
  readonly server: string;
  /** The last USN; `undefined` when the server has none. */
  readonly usn: number | undefined;
  /** Writes up to this USN are visible; later ones may still become visible. */
  readonly committedUsn: number | undefined;
}

/** USNs that were read from a server. */
interface CurrentUsns extends UsnState {
  /** Writes up to this USN are older than the delay of replication. */
  readonly replicatedUsn: number | undefined;
  /** Time of the request, from `performance.now()`. */
  readonly requestedAt: number;
}

/**
 * USN of the last write of each entry, by stable ID; `undefined` when the
 * account may not read it.
 */
export type UsnsById = ReadonlyMap<string, number | undefined>;

interface UsnSample {
  readonly server: string;
  readonly usn: number | undefined;
  readonly readAt: number;
}

/** Reads the directory's `lastusn`, which grows with every write and deletion. */
export class UsnReader {
  readonly #reader: Pick<LdapReader, 'search'>;
  /**
   * The last sample of the server that is older than the delay of replication
   * and all later ones.
   */
  #samples: readonly UsnSample[] = [];
  #last: CurrentUsns | undefined;

  constructor(options: { readonly reader: Pick<LdapReader, 'search'> }) {
    this.#reader = options.reader;
  }

  /** The last state; `undefined` before the first read. */
  get last(): CurrentUsns | undefined {
    return this.#last;
  }

  async read(): Promise<CurrentUsns> {
    const requestedAt = performance.now();
    const { entries, server } = await this.#reader.search({
      base: trustedDn(''),
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes: ['lastusn'],
    });
    const text =
      entries[0] &&
      (textOf(entries[0], 'lastusn;userroot') ?? textOf(entries[0], 'lastusn'));
    const usn = text === undefined ? undefined : Number(text);
    const known = this.#samples.at(-1);
    // A server that was restored from a backup starts again.
    const continues =
      known?.server === server && (usn ?? 0) >= (known.usn ?? 0);
    const before = continues
      ? this.#samples
      : [
          {
            server,
            usn: usn && Math.max(0, usn - WRITES_IN_PROGRESS),
            readAt: requestedAt,
          },
        ];
    /** Returns the last sample that is this old; the first one if none is. */
    const lastBefore = (ageMs: number) =>
      before.findLast(({ readAt }) => readAt <= requestedAt - ageMs) ??
      before[0];
    const replicated = lastBefore(REPLICATION_MS);
    this.#samples = [
      ...before.slice(before.indexOf(replicated)),
      { server, usn, readAt: performance.now() },
    ];
    this.#last = {
      server,
      usn,
      requestedAt,
      committedUsn: lastBefore(COMMIT_MS).usn,
      replicatedUsn: replicated.usn,
    };
    return this.#last;
  }
}

/** Lists the USNs of all readable entries of any class from one on. */
type ListUsns = (fromUsn: number) => Promise<ReadonlySet<number>>;

/**
 * The recent writes of one server: which of them were read, and whether
 * readable entries explain all USNs.
 *
 * Each write takes a USN, and an entry carries the USN of its last write. A USN
 * that no readable entry carries may belong to a deletion, or to a move to
 * where the account may not read the entry. If unreadable entries (such as DNS
 * records) are written continuously, there are always such USNs.
 */
export class UsnChanges {
  /** The state up to which writes were read. */
  #readTo: UsnState;
  /** Writes that were read, of the entries that the last list contained. */
  #seen: UsnsById = new Map();
  /** Deletions up to this USN have been found by a comparison. */
  #comparedUsn: number;
  /** USNs up to this one have been searched for among the readable entries. */
  #explainedUsn: number;
  /** The highest USN that no readable entry carries. */
  #unexplainedUsn: number;
  /**
   * The server's USN at the last search: writes up to it are usually visible a
   * second later.
   */
  #visibleUsn: number;
  #nextExplainAt = -Infinity;

  /** @param start - the state as of which all entries are known */
  constructor(start: UsnState) {
    const { usn = 0, committedUsn = 0 } = start;
    this.#readTo = start;
    this.#comparedUsn = committedUsn;
    this.#explainedUsn = committedUsn;
    this.#unexplainedUsn = committedUsn;
    this.#visibleUsn = usn;
  }

  /** The state up to which writes were read. */
  get readTo(): UsnState {
    return this.#readTo;
  }

  /** The lowest USN of writes that may be new. */
  get fromUsn(): number {
    return (this.#readTo.committedUsn ?? 0) + 1;
  }

  /**
   * Returns the lowest USN of these entries that has not been read; `undefined`
   * when all have been read.
   *
   * A server assigns the USN when a write starts and shows the entry when the
   * write ends, so a lower USN may appear after a higher one. Every poll
   * therefore lists all recent USNs, which is cheap, and reads entries only for
   * new ones.
   */
  firstUnseen(listed: UsnsById): number | undefined {
    const unseen = [...listed]
      .filter(([id, usn]) => usn === undefined || this.#seen.get(id) !== usn)
      .map(([, usn]) => usn ?? this.fromUsn);
    return unseen.length === 0
      ? undefined
      : unseen.reduce((least, usn) => Math.min(least, usn));
  }

  /**
   * Returns the stable IDs whose last write is recent but no longer listed: the
   * entry was deleted, or the write was rolled back after it became visible, as
   * 389 Directory Server does when a plugin rejects it.
   */
  noLongerListed(listed: UsnsById): readonly string[] {
    return [...this.#seen]
      .filter(([id, usn = 0]) => usn >= this.fromUsn && !listed.has(id))
      .map(([id]) => id);
  }

  /**
   * Records what was read of the listed entries. A search can miss an entry that
   * is being written, or return it as of an earlier write, also after the list
   * had the later one: such an entry is read again.
   */
  recordRead(
    listed: UsnsById,
    { read, to }: { readonly read: UsnsById; readonly to: UsnState },
  ): void {
    const known = new Map([...this.#seen, ...read]);
    this.#seen = new Map([...known].filter(([id]) => listed.has(id)));
    this.#readTo = to;
  }

  /**
   * Records that all stable IDs were compared. A USN that was not committed
   * before may belong to a move that was not visible yet.
   */
  recordComparison({ committedUsn = 0 }: UsnState): void {
    this.#comparedUsn = Math.max(this.#comparedUsn, committedUsn);
  }

  /** Returns whether readable entries or comparisons explain all USNs. */
  async explain(state: UsnState, listUsns: ListUsns): Promise<boolean> {
    const now = performance.now();
    if (now >= this.#nextExplainAt) {
      this.#nextExplainAt = now + EXPLAIN_INTERVAL_MS;
      await this.#explain(state, listUsns);
    }
    return this.#unexplainedUsn <= this.#comparedUsn;
  }

  async #explain({ usn }: UsnState, listUsns: ListUsns): Promise<void> {
    const visible = this.#visibleUsn;
    const explained = this.#explainedUsn;
    this.#explainedUsn = visible;
    this.#visibleUsn = usn ?? visible;
    if (visible <= explained) {
      return;
    }
    const before = this.#unexplainedUsn;
    // Unless the search succeeds, all stable IDs are compared.
    this.#unexplainedUsn = visible;
    if (visible - explained <= MAX_EXPLAINED_USNS) {
      const usns = await listUsns(explained + 1);
      let last = visible;
      while (last > explained && usns.has(last)) {
        last--;
      }
      this.#unexplainedUsn = last > explained ? last : before;
    }
  }
}
