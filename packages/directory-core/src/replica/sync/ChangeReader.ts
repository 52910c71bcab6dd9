import type {
  AgreementEntry,
  EntryRef,
  GroupEntry,
  ReplicaBatch,
} from '../tables/entries';
import { difference } from '../tables/MembershipGraph';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type {
  CurrentPosition,
  ReplicaPosition,
  ReplicaSource,
} from './ReplicaSource';
import type { TableCheck } from './TableCheck';

/**
 * Maximum number of entries that are read again because they lost a reference.
 * If there are more, a comparison of stable IDs finds the deleted ones.
 */
const MAX_LOST_REFERENCES = 500;

/** Maximum number of times that an entry is read until it is consistent. */
const MAX_REPEATS = 10;

/**
 * Maximum number of times that a poll looks for further changes. Entries that
 * are written continuously may then be as of slightly different times.
 */
const MAX_ROUNDS = 5;

/** Keys of the members, sponsors and signers of an entry. */
type Links = readonly (readonly string[])[];

interface ChangeReaderOptions {
  readonly source: Pick<
    ReplicaSource,
    'changes' | 'compare' | 'position' | 'readEntries'
  >;
  readonly tables: ReplicaTables;
  /** Receives the entries. */
  readonly check: TableCheck;
}

/**
 * Reads the changes of one poll, as of one state of the directory: what is
 * written meanwhile is read, too.
 *
 * Entries that others no longer refer to are read again: members, sponsors and
 * signers that left a group or an agreement, and groups that a user is no longer
 * in. They may have been deleted, also when the account cannot see the deletion
 * (`ipa user-del --preserve`). Or they were renamed after the entry was read and
 * before the group was: both are then read until the group names the current key.
 */
export class ChangeReader {
  readonly #options: ChangeReaderOptions;
  /** Entries that were read, as `kind id`. */
  readonly #read = new Set<string>();
  /** Entries that were read after they lost a reference, as `kind id`. */
  readonly #reread = new Set<string>();
  /** Keys of groups that users are no longer in. */
  readonly #leftGroups = new Set<string>();
  #reads = 0;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads what was written between two positions, and these entries.
   *
   * @returns the position that was reached, whether readable entries explain
   *   all writes, and whether all entries that lost a reference were read
   */
  async read(
    from: ReplicaPosition,
    to: CurrentPosition,
    refs: readonly EntryRef[],
  ): Promise<{
    readonly to: CurrentPosition;
    readonly complete: boolean;
    readonly hasAllLost: boolean;
  }> {
    const { source } = this.#options;
    let [start, end, unread] = [from, to, refs];
    for (let round = 1; ; round++) {
      const before = this.#reads;
      const { gone, complete } = await source.changes(start, end, batch =>
        this.#record(batch),
      );
      gone.forEach(ref => this.#recordMissing(ref));
      const hasAllLost = await this.#readAgain(end.server, unread);
      if (this.#reads > before && round < MAX_ROUNDS) {
        const next = await source.position();
        if (source.compare(next, end) === 'earlier') {
          [start, end, unread] = [end, next, []];
          continue;
        }
      }
      return { to: end, complete, hasAllLost };
    }
  }

  #record(batch: ReplicaBatch): void {
    const { tables, check } = this.#options;
    const { kind, entries } = batch;
    const known = this.#reread.size === 0 ? [] : entries;
    const formerLinks = known.map(({ id }) => this.#linksOf({ kind, id }));
    check.compare(batch);
    for (const [index, { id }] of known.entries()) {
      this.#forgetLost(formerLinks[index], this.#linksOf({ kind, id }));
    }
    this.#reads += entries.length;
    for (const { id, memberOf } of entries) {
      this.#read.add(textOf({ kind, id }));
      const before = memberOf ? (tables.users.keyOf(id) ?? '') : '';
      for (const group of tables.groups.graph.directGroupsOf(before)) {
        if (!memberOf!.has(group)) {
          this.#leftGroups.add(group);
        }
      }
    }
  }

  /** Lets entries that have lost another reference be read again. */
  #forgetLost(before: Links, now: Links): void {
    for (const [list, links] of before.entries()) {
      for (const key of difference(links, now[list]).removed) {
        const ref = refOf(key, this.#options.tables);
        if (ref) {
          this.#reread.delete(textOf(ref));
        }
      }
    }
  }

  /** Returns the links of an entry as last read. */
  #linksOf(ref: EntryRef): Links {
    const { tables, check } = this.#options;
    const read = check.get(ref);
    return read ? linksOf(read.entry) : linksBefore(ref, tables);
  }

  #recordMissing(ref: EntryRef): void {
    this.#reads++;
    this.#options.check.recordMissing(ref);
  }

  /**
   * Reads these and all lost entries. Resolves to `false` if too many are lost.
   */
  async #readAgain(
    server: string,
    refs: readonly EntryRef[],
  ): Promise<boolean> {
    let unread = refs;
    for (let repeats = 0; ; repeats++) {
      const lost = this.#lost(repeats < MAX_REPEATS);
      const wanted = [...unread, ...(lost ?? [])];
      if (wanted.length === 0) {
        return lost !== undefined;
      }
      await this.#readEntries(server, wanted);
      unread = [];
    }
  }

  async #readEntries(server: string, refs: readonly EntryRef[]): Promise<void> {
    const unique = [...new Map(refs.map(ref => [textOf(ref), ref])).values()];
    const found = await this.#options.source.readEntries(
      server,
      unique,
      batch => this.#record(batch),
    );
    for (const ref of unique) {
      this.#reread.add(textOf(ref));
      if (!found[ref.kind].has(ref.id)) {
        this.#recordMissing(ref);
      }
    }
  }

  /**
   * Returns entries to read, because they lost a reference; `undefined` if too
   * many did.
   *
   * @param repeats - whether renamed entries and the groups that do not name
   *   them are read again
   */
  #lost(repeats: boolean): readonly EntryRef[] | undefined {
    const { tables, check } = this.#options;
    const lost = [...this.#leftGroups]
      .flatMap(key => refOf(key, tables) ?? [])
      .filter(ref => !this.#read.has(textOf(ref)) && !check.get(ref));
    const keys = new Set(check.refs.map(ref => check.get(ref)!.key));
    const isUnknown = (key: string) => !keys.has(key) && !refOf(key, tables);
    let count = 0;
    for (const { group, removed, added } of this.#changedLinks()) {
      count += removed.size;
      if (count > MAX_LOST_REFERENCES) {
        return undefined;
      }
      let hasUnknown: boolean | undefined;
      for (const former of removed) {
        const ref = refOf(former, tables);
        const key = ref && this.#keyOf(ref, former);
        if (!ref || key === undefined || added.has(key)) {
          continue;
        }
        if (!this.#reread.has(textOf(ref))) {
          lost.push(ref);
        } else if (repeats) {
          hasUnknown ??= [...added].some(isUnknown);
          if (key !== former || hasUnknown) {
            lost.push(ref, group);
          }
        }
      }
    }
    return lost;
  }

  /** Yields the links that groups and agreements have lost and got. */
  *#changedLinks() {
    const { tables, check } = this.#options;
    for (const group of check.refs) {
      const { key, entry } = check.get(group)!;
      const before = key === '' ? [] : linksBefore(group, tables);
      const now = linksOf(entry);
      for (const [list, links] of before.entries()) {
        yield { group, ...difference(links, now[list]) };
      }
    }
  }

  /** Returns the key of an entry as it was read; `undefined` if it is deleted. */
  #keyOf(ref: EntryRef, former: string): string | undefined {
    const read = this.#options.check.get(ref);
    if (!read) {
      return former; // As in the tables.
    }
    return read.entry ? read.key : undefined;
  }
}

/** Returns the user or group of the tables with a key. */
function refOf(key: string, tables: ReplicaTables): EntryRef | undefined {
  for (const kind of ['users', 'groups'] as const) {
    const id = tables[kind].idOf(key);
    if (id !== undefined) {
      return { kind, id };
    }
  }
  return undefined;
}

/** Returns the links of a group or an agreement in the tables. */
function linksBefore(
  { kind, id }: EntryRef,
  { groups, agreements }: ReplicaTables,
): Links {
  switch (kind) {
    case 'groups':
      return linksOf(groups.graph.get(groups.keyOf(id) ?? ''));
    case 'agreements':
      return linksOf(agreements.get(id));
    default:
      return [];
  }
}

/** Returns the members, sponsors and signers of a group or an agreement. */
function linksOf(entry: unknown): Links {
  const { members, sponsors, signers } = (entry ?? {}) as Partial<
    GroupEntry & AgreementEntry
  >;
  return [members ?? [], sponsors ?? [], [...(signers ?? [])]];
}

function textOf({ kind, id }: EntryRef): string {
  return `${kind} ${id}`;
}
