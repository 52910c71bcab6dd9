import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import type { EntryRef, ReplicaSource } from '../replica/sync/ReplicaSource';
import type { RecordedEntry } from './ChangeLog';

/** Maximum number of entries whose modifiers are looked up at once. */
const MAX_ENTRIES = 20;

/** An entry that has changed. */
export type ChangedKey = Pick<RecordedEntry, 'kind' | 'key'>;

/** Reads who has written entries. */
export interface WriteSource extends Pick<ReplicaSource, 'listUsns'> {
  /**
   * The last write of an entry: its USN and the normalized DN of the account
   * that has made it. `undefined` when the entry does not exist, a plugin of the
   * server has written it, or the account cannot read that.
   */
  lastWriteOf(entry: EntryRef): Promise<
    | {
        readonly server: string;
        readonly usn: number;
        readonly modifier: string;
      }
    | undefined
  >;
}

/** Options of {@link Modifiers}. */
export interface ModifiersOptions {
  readonly source: WriteSource;
  readonly logger: LoggerService;
}

/** A response to a search for USNs. */
interface Listing {
  readonly highestUsn: number;
  /** Time of the response, from `performance.now()`. */
  readonly endedAt: number;
}

/**
 * Finds the users who have made changes. The directory only knows who has
 * written an entry last, so a modifier is returned only if exactly one write has
 * happened to the entry since it was compared before: every other USN since then
 * is carried by another entry.
 *
 * 389 Directory Server makes the writes to a suffix visible in the order of
 * their USNs. Of a USN that an entry carries, all lower ones are visible to the
 * searches that follow.
 */
export class Modifiers {
  readonly #options: ModifiersOptions;
  /** In order; the first one may be before the last comparison. */
  #listings: readonly Listing[] = [];
  /** USNs of the only writes of entries, by key: no earlier write counts. */
  readonly #onlyWrites = new Map<string, number>();
  /** The sync after which all entries were compared. */
  #compared: ConfirmedSync | undefined;
  #hasFailed = false;

  constructor(options: ModifiersOptions) {
    this.#options = options;
  }

  /** Records that all entries have been compared after a sync. */
  async compared(sync: ConfirmedSync): Promise<void> {
    const last = this.#compared;
    if (last?.server !== sync.server || last?.epoch !== sync.epoch) {
      this.#listings = [];
      this.#onlyWrites.clear();
    }
    this.#compared = sync;
    const { requestedAt } = sync;
    const before = this.#listings.findLastIndex(
      ({ endedAt }) => endedAt < requestedAt,
    );
    this.#listings = this.#listings.slice(Math.max(before, 0));
    const comparedUsn = this.#comparedUsn(sync);
    for (const [key, usn] of this.#onlyWrites) {
      if (usn <= comparedUsn) {
        this.#onlyWrites.delete(key);
      }
    }
    if (last?.usn !== sync.usn) {
      await this.#attempt(() => this.#list(sync));
    }
  }

  /**
   * The normalized DNs of the modifiers of entries that a comparison after a sync
   * has found changed, by the keys of the entries. Unknown ones are left out.
   */
  async find(
    entries: readonly ChangedKey[],
    sync: ConfirmedSync,
  ): Promise<ReadonlyMap<string, string>> {
    const since = this.#compared;
    const found = new Map<string, string>();
    if (
      since?.committedUsn === undefined ||
      since.server !== sync.server ||
      since.epoch !== sync.epoch ||
      entries.length > MAX_ENTRIES
    ) {
      return found;
    }
    await this.#attempt(async () => {
      const writes = new Map<string, { usn: number; modifier: string }>();
      for (const { kind, key } of entries) {
        const write = await this.#options.source.lastWriteOf({
          kind: `${kind}s`,
          key,
        });
        if (write?.server === sync.server) {
          writes.set(key, write);
        }
      }
      const comparedUsn = this.#comparedUsn(since);
      const present = await this.#list(since);
      for (const [key, { usn, modifier }] of writes) {
        const lastUsn = this.#onlyWrites.get(key) ?? comparedUsn;
        if (isPresentFrom(lastUsn + 1, usn, present)) {
          found.set(key, modifier);
          this.#onlyWrites.set(key, usn);
        } else {
          this.#onlyWrites.delete(key);
        }
      }
    });
    return found;
  }

  /** All writes up to this USN were visible to the sync. */
  #comparedUsn({ committedUsn = 0, requestedAt }: ConfirmedSync): number {
    const listings = this.#listings.filter(
      ({ endedAt }) => endedAt < requestedAt,
    );
    return Math.max(
      committedUsn,
      ...listings.map(({ highestUsn }) => highestUsn),
    );
  }

  /** Lists the USNs since a sync that entries carry. */
  async #list(since: ConfirmedSync): Promise<ReadonlySet<number>> {
    const comparedUsn = this.#comparedUsn(since);
    const { server, usns } = await this.#options.source.listUsns(
      comparedUsn + 1,
    );
    if (server !== since.server) {
      return new Set();
    }
    const listing = {
      highestUsn: Math.max(comparedUsn, ...usns),
      endedAt: performance.now(),
    };
    this.#listings = [...this.#listings, listing];
    return usns;
  }

  /** Without a result, modifiers are unknown. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) {
        this.#hasFailed = true;
        this.#options.logger.warn(
          `The modifiers of changes cannot be read: ${stringifyError(error)}`,
        );
      }
    }
  }
}

/** Whether entries carry all USNs from the first to the last one. */
function isPresentFrom(
  first: number,
  last: number,
  present: ReadonlySet<number>,
): boolean {
  let usn = first;
  while (usn <= last && present.has(usn)) {
    usn++;
  }
  return usn > last && last >= first;
}
