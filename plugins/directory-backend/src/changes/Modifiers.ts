import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import type { EntryRef, ReplicaSource } from '../replica/sync/ReplicaSource';
import type { RecordedEntry } from './ChangeLog';

/** Maximum number of entries whose modifiers are looked up at once. */
const MAX_ENTRIES = 20;

/** Maximum number of USNs that are accounted for. */
const MAX_USNS = 5000;

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

/**
 * Finds the users who have made changes. The directory only knows who has
 * written an entry last, so a modifier is returned only if exactly one write has
 * happened to the entry since it was compared before: each USN since then is
 * carried by another entry, or was carried by one that was compared with it.
 */
export class Modifiers {
  readonly #options: ModifiersOptions;
  /** USNs that entries carried, with the time of the response. */
  readonly #seen = new Map<number, number>();
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
      this.#seen.clear();
    }
    this.#compared = sync;
    for (const usn of this.#seen.keys()) {
      if (usn <= (sync.committedUsn ?? 0)) {
        this.#seen.delete(usn);
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
    const { committedUsn } = since;
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
      const present = await this.#list(since);
      for (const [key, { usn, modifier }] of writes) {
        const isOnlyWrite =
          usn - committedUsn <= MAX_USNS &&
          present.has(usn) &&
          isEvery(committedUsn + 1, usn, other =>
            present.has(other)
              ? true
              : (this.#seen.get(other) ?? Infinity) < since.requestedAt,
          );
        if (isOnlyWrite) {
          found.set(key, modifier);
        }
      }
    });
    return found;
  }

  /** Lists the USNs after the committed one that entries carry. */
  async #list({
    server,
    committedUsn,
  }: ConfirmedSync): Promise<ReadonlySet<number>> {
    if (committedUsn === undefined) {
      return new Set();
    }
    const { source } = this.#options;
    const listed = await source.listUsns(committedUsn + 1);
    const now = performance.now();
    if (listed.server !== server) {
      return new Set();
    }
    for (const usn of listed.usns) {
      if (!this.#seen.has(usn)) {
        this.#seen.set(usn, now);
      }
    }
    return listed.usns;
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

/** Whether all numbers from the first one up to before the last one pass. */
function isEvery(
  first: number,
  end: number,
  pass: (number: number) => boolean,
): boolean {
  for (let number = first; number < end; number++) {
    if (!pass(number)) {
      return false;
    }
  }
  return true;
}
