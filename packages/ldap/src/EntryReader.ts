import type { Entry, Filter } from 'ldapts';
import {
  setImmediate as yieldToEventLoop,
  setTimeout as sleep,
} from 'node:timers/promises';
import type { OnBatch, ReplicaBatch } from '@directory-gateway/directory-core';
import type { LdapSearch } from './connection/LdapConnection';
import { GetEffectiveRightsControl, missingRights } from './effectiveRights';
import { type EntryKind, idOf, USN } from './entryKinds';
import { integerOf } from './entryValues';
import type { LdapReader } from './LdapReader';
import type { UsnsById } from './usns';

/** Page size for listing stable IDs. Pages of 1,000 cost the server 20% more time. */
const IDS_PER_PAGE = 5000;

/** Number of stable IDs to list before yielding to the event loop. */
const IDS_PER_SLICE = 500;

/** Pause after each page of a throttled read; longer than the page takes. */
const THROTTLE_PAUSE_MS = 50;

/** Options of {@link EntryReader.read}. */
export interface ReadOptions {
  readonly onBatch: OnBatch;
  /** Default: the filter of the kind. */
  readonly filter?: Filter;
  /** Whether to check that the required attributes of each entry are readable. */
  readonly verified?: boolean;
  /** Whether to pause after each page. */
  readonly throttled?: boolean;
  /** Further attributes to read. */
  readonly further?: readonly string[];
}

/** Reads entries of one kind from the directory. */
export class EntryReader {
  readonly #reader: LdapReader;

  constructor(reader: LdapReader) {
    this.#reader = reader;
  }

  /**
   * Passes entries to `onBatch` page by page and returns their stable IDs, with
   * their USNs if they are requested.
   *
   * @throws DirectoryUnavailableError with the reason `accessCheck` when a
   *   required attribute of an entry is unreadable; this entry and later ones
   *   are not passed on.
   */
  async read(
    kind: EntryKind,
    options: ReadOptions,
  ): Promise<{ readonly server: string; readonly ids: UsnsById }> {
    const { filter = kind.filter, onBatch, verified, throttled } = options;
    const ids = new Map<string, number | undefined>();
    const unreadable = new Set<string>();
    const { server } = await this.#reader.search({
      base: kind.container,
      scope: 'one',
      filter,
      attributes: [...kind.attributes, ...(options.further ?? [])],
      pageSize: kind.pageSize,
      ...(verified && {
        control: new GetEffectiveRightsControl(this.#reader.bindDn),
      }),
      onPage: async (page, { isFirst }) => {
        if (isFirst) {
          ids.clear();
        }
        // A large group is read, decoded and applied in separate turns of the
        // event loop.
        await yieldToEventLoop();
        const batch = await kind.decode(page);
        for (const [index, { id }] of batch.entries.entries()) {
          ids.set(id, integerOf(page[index], USN));
        }
        if (verified) {
          for (const attribute of unreadableAttributes(kind, page, batch)) {
            unreadable.add(attribute);
          }
        }
        await yieldToEventLoop();
        // An error here would count as a failure of the connection.
        if (unreadable.size === 0) {
          await onBatch(batch);
          await (throttled && sleep(THROTTLE_PAUSE_MS));
        }
      },
    });
    if (unreadable.size > 0) {
      throw this.#reader.accessVerifier.fail(
        `The service account may not read and search ${[...unreadable].join(
          ', ',
        )} of an entry`,
      );
    }
    return { server, ids };
  }

  /** Lists the stable IDs of entries, with their USNs if they are requested. */
  async list(
    search: Pick<LdapSearch, 'base' | 'scope' | 'filter' | 'attributes'>,
  ): Promise<{ readonly server: string; readonly ids: UsnsById }> {
    const ids = new Map<string, number | undefined>();
    const { server } = await this.#reader.search({
      ...search,
      pageSize: IDS_PER_PAGE,
      onPage: async (page, { isFirst }) => {
        if (isFirst) {
          ids.clear();
        }
        for (const [index, entry] of page.entries()) {
          ids.set(idOf(entry), integerOf(entry, USN));
          if ((index + 1) % IDS_PER_SLICE === 0) {
            await yieldToEventLoop();
          }
        }
      },
    });
    return { server, ids };
  }
}

/** Returns the unreadable required attributes of the replicated entries. */
function unreadableAttributes(
  { requiredAttributes }: EntryKind,
  page: readonly Entry[],
  { entries }: ReplicaBatch,
): readonly string[] {
  return page.flatMap((entry, index) => {
    return entries[index].entry
      ? missingRights(entry, requiredAttributes(entry))
      : [];
  });
}
