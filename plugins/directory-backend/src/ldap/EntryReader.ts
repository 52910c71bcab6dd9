import type { Entry, Filter } from 'ldapts';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import type {
  UsnsByKey,
  ReplicaBatch,
  OnBatch,
} from '../replica/sync/ReplicaSource';
import type { Copied } from './entryKinds';
import { normalizeDn } from './connection/DistinguishedName';
import { integerOf } from './entryValues';
import { GetEffectiveRightsControl, missingRights } from './effectiveRights';
import { NEVER_ABORTED, type LdapReader } from './LdapReader';

/** Page size for listing keys. Pages of 1,000 cost the server 20 % more time. */
export const KEYS_PER_PAGE = 5000;

/** Keys that are normalized before yielding to the event loop. */
const KEYS_PER_SLICE = 500;

/** After each page of a gentle reading: longer than the page takes. */
const GENTLE_PAUSE_MS = 50;

/** Which entries of a kind are read, and how. */
export interface ReadOptions {
  readonly take: OnBatch;
  /** Default: those of the kind. */
  readonly filter?: Filter;
  /** With proof that what is vital could be read in each entry. */
  readonly proven?: boolean;
  /** With pauses. */
  readonly gently?: boolean;
}

/** Reads what is to be copied, of one kind at a time. */
export class EntryReader {
  readonly #reader: LdapReader;
  readonly #bindDn: string;

  constructor(options: {
    readonly reader: LdapReader;
    /** The account that reads. */
    readonly bindDn: string;
  }) {
    this.#reader = options.reader;
    this.#bindDn = options.bindDn;
  }

  /**
   * Has entries taken as they come, and names them.
   *
   * @throws DirectoryUnavailableError with the reason `accessCheck` when a
   *   right on one of them is missing; that entry is not taken.
   */
  async read<P extends ReplicaBatch>(
    kind: Copied<P>,
    reading: ReadOptions,
  ): Promise<{ readonly server: string; readonly keys: ReadonlySet<string> }> {
    const { filter = kind.filter, take, proven, gently } = reading;
    const { attributes, pageSize } = kind;
    const keys = new Set<string>();
    const missing = new Set<string>();
    const { server } = await this.#reader.search(
      {
        base: kind.container,
        scope: 'one',
        filter,
        attributes,
        pageSize,
        ...(proven && {
          control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
        }),
        onPage: async (page, { isFirst }) => {
          if (isFirst) {
            keys.clear();
          }
          // A group of everybody is read, decoded and taken in a turn each.
          await nextTurn();
          const named = page.map(
            entry => [normalizeDn(entry.dn), entry] as const,
          );
          for (const [key] of named) {
            keys.add(key);
          }
          const portion = await kind.decode(named);
          for (const attribute of proven
            ? missingFor(kind, page, portion)
            : []) {
            missing.add(attribute);
          }
          await nextTurn();
          // An error here would be one of the connection.
          if (missing.size === 0) {
            await take(portion);
            await (gently && sleep(GENTLE_PAUSE_MS));
          }
        },
      },
      NEVER_ABORTED,
    );
    if (missing.size > 0) {
      throw this.#reader.failAccessCheck(
        `The service account may not read and search ${[...missing].join(
          ', ',
        )} of an entry`,
      );
    }
    return { server, keys };
  }

  /**
   * Lists entries without their values.
   *
   * @param filter - Selects entries of any class, with their USNs. Default:
   *   all entries of the kind, without USNs, which is cheaper for the server.
   */
  async list(
    { container: base, filter: ofKind }: Copied<ReplicaBatch>,
    filter?: Filter,
  ): Promise<{ readonly server: string; readonly usns: UsnsByKey }> {
    const usns = new Map<string, number | undefined>();
    const { server } = await this.#reader.search(
      {
        base,
        scope: 'one',
        filter: filter ?? ofKind,
        attributes: [filter ? 'entryusn' : '1.1'],
        pageSize: KEYS_PER_PAGE,
        onPage: async (page, { isFirst }) => {
          if (isFirst) {
            usns.clear();
          }
          for (const [index, entry] of page.entries()) {
            usns.set(normalizeDn(entry.dn), integerOf(entry, 'entryusn'));
            if ((index + 1) % KEYS_PER_SLICE === 0) {
              await nextTurn();
            }
          }
        },
      },
      NEVER_ABORTED,
    );
    return { server, usns };
  }
}

/** What is vital and could not be read in some of the entries to be copied. */
function missingFor<P extends ReplicaBatch>(
  { vital }: Copied<P>,
  page: readonly Entry[],
  { entries }: P,
): readonly string[] {
  return entries.flatMap(([, copied], index) =>
    copied ? missingRights(page[index], vital(page[index])) : [],
  );
}
