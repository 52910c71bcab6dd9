import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import type { EntryRef, ReplicaSource } from '../replica/sync/ReplicaSource';
import type { RecordedEntry } from './ChangeLog';

/** Maximum number of entries whose modifiers are looked up at once. */
const MAX_ENTRIES = 20;

/** An entry that has changed. */
export type ChangedKey = Pick<RecordedEntry, 'kind' | 'key'>;

/** Reads which accounts wrote entries. */
export interface WriteSource extends Pick<ReplicaSource, 'listUsns'> {
  /**
   * Returns the last write of an entry: its USN and the normalized DN of the
   * account that made it. `undefined` when the entry does not exist, a server
   * plugin wrote it, or the service account cannot read it.
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
 * Finds the users who made changes. The directory only stores the last modifier
 * of an entry. A modifier is therefore returned only if the entry was written
 * exactly once since its last comparison, that is, if other entries carry all
 * other USNs since then.
 *
 * 389 Directory Server makes the writes to a suffix visible in the order of
 * their USNs. Once an entry carries a USN, all writes with lower USNs are
 * visible to subsequent searches.
 */
export class Modifiers {
  readonly #options: ModifiersOptions;
  /** In order; the first one may be before the last comparison. */
  #listings: readonly Listing[] = [];
  /** USN of the only write of each entry, by key; ignores earlier writes. */
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
   * Returns the normalized DNs of the modifiers of entries that a comparison
   * after a sync found changed, by key. Omits unknown modifiers.
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

  /** Returns a USN up to which all writes were visible to the sync. */
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

  /** Logs an error of the work; modifiers are then unknown. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) {
        this.#hasFailed = true;
        this.#options.logger.warn(
          `Cannot determine who made the changes: ${stringifyError(error)}`,
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
