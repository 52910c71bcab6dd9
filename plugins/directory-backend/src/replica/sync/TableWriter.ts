import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldValues } from './HeldValues';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type {
  AgreementEntry,
  UserEntry,
  GroupEntry,
  ReplicaKeys,
  ReplicaBatch,
} from './ReplicaSource';

/** So many entries are written before others have their turn. */
const ENTRIES_PER_SLICE = 200;

/**
 * What differs between a copy that is in use and the directory as it is read
 * meanwhile, page after page. What is written into the copy in the same time
 * is newer than what was read, and no difference.
 */
export class TableCheck {
  readonly #tables: ReplicaTables;
  readonly #held: Pick<HeldValues, 'apply'>;
  readonly #written = new Set<string>();
  readonly #users = new Map<string, UserEntry | undefined>();
  readonly #groups = new Map<string, GroupEntry | undefined>();
  readonly #agreements = new Map<string, AgreementEntry | undefined>();

  constructor(tables: ReplicaTables, held: Pick<HeldValues, 'apply'>) {
    this.#tables = tables;
    this.#held = held;
  }

  /** The differences of a kind; `undefined` is an entry that was deleted. */
  found(kind: 'users'): ReadonlyMap<string, UserEntry | undefined>;
  found(kind: ReplicaBatch['kind']): ReadonlyMap<string, unknown>;
  found(kind: ReplicaBatch['kind']): ReadonlyMap<string, unknown> {
    return {
      users: this.#users,
      groups: this.#groups,
      agreements: this.#agreements,
    }[kind];
  }

  /** Records that an entry was written into the replica meanwhile. */
  written(key: string): void {
    this.#written.add(key);
  }

  /** Compares what was read. */
  look(read: ReplicaBatch): void {
    const portion = this.#held.apply(read);
    const { users, groups, agreements } = this.#tables;
    switch (portion.kind) {
      case 'users':
        return collectDifferent(this.#users, portion.entries, users);
      case 'groups':
        return collectDifferent(this.#groups, portion.entries, groups);
      default:
        return collectDifferent(this.#agreements, portion.entries, agreements);
    }
  }

  /** Finds entries of the replica that are not among these keys. */
  async findDeleted(keys: Omit<ReplicaKeys, 'server'>): Promise<void> {
    const { users, groups, agreements } = this.#tables;
    await collectDeleted(this.#users, users.keys(), keys.users);
    await collectDeleted(this.#groups, groups.keys(), keys.groups);
    await collectDeleted(this.#agreements, agreements.keys(), keys.agreements);
  }

  /**
   * What has to be written to put the copy right, a little at a time: what is
   * written into the copy meanwhile is left out.
   */
  *differences(): Iterable<ReplicaBatch> {
    for (const entries of this.#unwritten(this.#users)) {
      yield { kind: 'users', entries };
    }
    for (const entries of this.#unwritten(this.#groups)) {
      yield { kind: 'groups', entries };
    }
    for (const entries of this.#unwritten(this.#agreements)) {
      yield { kind: 'agreements', entries };
    }
  }

  *#unwritten<T>(found: ReadonlyMap<string, T>) {
    const entries = [...found];
    for (let at = 0; at < entries.length; at += ENTRIES_PER_SLICE) {
      yield entries
        .slice(at, at + ENTRIES_PER_SLICE)
        .filter(([key]) => !this.#written.has(key));
    }
  }
}

/** So many keys are compared before others have their turn. */
const KEYS_PER_SLICE = 5000;

/** Members of a group that are written before yielding to the event loop. */
const MEMBERS_PER_SLICE = 2500;

/** Longer than any reading takes that was begun before an entry was gone. */
const DELETION_MEMORY_MS = 10 * 60_000;

/** Writes into a copy what was read, which may be over by then. */
export class TableWriter {
  readonly #tables: ReplicaTables;
  readonly #held: Pick<HeldValues, 'apply'>;
  readonly #onWrite: () => void;
  /** When keys were last heard to be gone. */
  readonly #gone = new Map<string, number>();
  readonly #checks = new Set<TableCheck>();
  /** Start of the latest sync that writes in slices. */
  #slicedSyncAt = -Infinity;

  constructor(options: {
    readonly tables: ReplicaTables;
    /** Default: nothing is held. */
    readonly held?: Pick<HeldValues, 'apply'>;
    /** Called in the turn of each change. Default: nothing. */
    readonly onWrite?: () => void;
  }) {
    this.#tables = options.tables;
    this.#held = options.held ?? { apply: portion => portion };
    this.#onWrite = options.onWrite ?? (() => {});
  }

  /** Starts a check, which is told of every write until it is ended. */
  startCheck(): TableCheck {
    const check = new TableCheck(this.#tables, this.#held);
    this.#checks.add(check);
    return check;
  }

  endCheck(check: TableCheck): void {
    this.#checks.delete(check);
  }

  /** Writes entries that were requested at a time (`performance.now()`). */
  take(portion: ReplicaBatch, requestedAt: number): void {
    if (portion.kind !== 'groups') {
      return this.#write(portion, requestedAt);
    }
    const entries = portion.entries.map(
      ([key, group]) => [key, group && this.#sharing(key, group)] as const,
    );
    return this.#write({ kind: 'groups', entries }, requestedAt);
  }

  /**
   * As {@link take}, but yields to the event loop between slices of a large
   * group, which has a part of its members meanwhile: only for a sync during
   * which the tables are not read.
   */
  async writeInSlices(portion: ReplicaBatch, requestedAt: number): Promise<void> {
    this.#slicedSyncAt = requestedAt;
    if (portion.kind !== 'groups') {
      return this.take(portion, requestedAt);
    }
    for (const [key, group] of portion.entries) {
      const shared = (name: string) => this.#shared(name);
      const sponsors = group?.sponsors.map(shared) ?? [];
      let members: readonly string[] = [];
      for (const slice of slicesOf(group?.members ?? [])) {
        members = members.concat(slice.map(shared));
        const entry = group && { ...group, members, sponsors };
        this.#write({ kind: 'groups', entries: [[key, entry]] }, requestedAt);
        await nextTurn();
        if (this.#slicedSyncAt !== requestedAt) {
          // This sync failed, and another one has begun.
          return undefined;
        }
      }
    }
    return undefined;
  }

  #write(read: ReplicaBatch, requestedAt: number): void {
    const portion = this.#held.apply(read);
    const { users, groups, agreements } = this.#tables;
    for (const check of this.#checks) {
      for (const [key] of portion.entries) {
        check.written(key);
      }
    }
    // An entry may have been read before it was deleted.
    const isThere = ([key]: readonly [string, unknown]) =>
      (this.#gone.get(key) ?? -Infinity) < requestedAt;
    switch (portion.kind) {
      case 'users':
        write(users, portion.entries.filter(isThere));
        break;
      case 'groups':
        write(groups, portion.entries.filter(isThere));
        break;
      default:
        write(agreements, portion.entries.filter(isThere));
    }
    this.#onWrite();
  }

  /** With the users' own keys: a text that is equal is kept as often as it is read. */
  #sharing(key: string, group: GroupEntry): GroupEntry {
    const old = this.#tables.groups.get(key);
    const shared = (name: string) => this.#shared(name);
    return {
      ...group,
      members: sharing(group.members, { old: old?.members, shared }),
      sponsors: sharing(group.sponsors, { old: old?.sponsors, shared }),
    };
  }

  #shared(name: string): string {
    return this.#tables.users.served.get(name)?.key ?? name;
  }

  /** Drops what is not among these keys. */
  async retainOnly(keys: Omit<ReplicaKeys, 'server'>): Promise<void> {
    for (const kind of ['users', 'groups', 'agreements'] as const) {
      const table = this.#tables[kind];
      let looked = 0;
      for (const key of table.keys()) {
        if (!keys[kind].has(key)) {
          table.delete(key);
        }
        if (++looked % KEYS_PER_SLICE === 0) {
          await nextTurn();
        }
      }
    }
  }

  /** Drops an entry that is gone. */
  remove(key: string): void {
    const now = performance.now();
    for (const check of this.#checks) {
      check.written(key);
    }
    this.#tables.users.delete(key);
    this.#tables.groups.delete(key);
    this.#tables.agreements.delete(key);
    for (const [other, at] of this.#gone) {
      if (now - at < DELETION_MEMORY_MS) {
        break;
      }
      this.#gone.delete(other);
    }
    this.#gone.delete(key);
    this.#gone.set(key, now);
    this.#onWrite();
  }
}

/** At least one slice, which may be empty. */
function* slicesOf(names: readonly string[]): Iterable<readonly string[]> {
  let start = 0;
  do {
    yield names.slice(start, start + MEMBERS_PER_SLICE);
    start += MEMBERS_PER_SLICE;
  } while (start < names.length);
}

function write<T>(
  table: {
    set(key: string, entry: T): unknown;
    delete(key: string): unknown;
  },
  entries: readonly (readonly [string, T | undefined])[],
): void {
  for (const [key, entry] of entries) {
    if (entry) {
      table.set(key, entry);
    } else {
      table.delete(key);
    }
  }
}

/**
 * These texts as they are kept elsewhere. Most are where they were in the old
 * list, or one further on, which is found faster than by looking them up.
 */
function sharing(
  texts: readonly string[],
  {
    old = [],
    shared,
  }: {
    readonly old?: readonly string[];
    readonly shared: (text: string) => string;
  },
): readonly string[] {
  let at = 0;
  return texts.map(text => {
    if (old[at] !== text && old[at + 1] === text) {
      at++;
    }
    return old[at] === text ? old[at++] : shared(text);
  });
}

function collectDifferent<T>(
  found: Map<string, T | undefined>,
  entries: readonly (readonly [string, T | undefined])[],
  table: { differs(key: string, entry: T | undefined): boolean },
): void {
  for (const [key, entry] of entries) {
    if (table.differs(key, entry)) {
      found.set(key, entry);
    }
  }
}

async function collectDeleted<T>(
  found: Map<string, T | undefined>,
  copied: Iterable<string>,
  keys: ReadonlySet<string>,
): Promise<void> {
  let looked = 0;
  for (const key of copied) {
    if (!keys.has(key)) {
      found.set(key, undefined);
    }
    if (++looked % KEYS_PER_SLICE === 0) {
      await nextTurn();
    }
  }
}
