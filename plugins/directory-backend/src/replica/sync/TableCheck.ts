import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldValues } from './HeldValues';
import type {
  CopiedAgreement,
  CopiedUser,
  GroupEntry,
  ReplicaKeys,
  ReplicaPortion,
} from './ReplicaSource';
import type { ReplicaTables } from '../tables/ReplicaTables';

/** So many entries are written before others have their turn. */
const ENTRIES_A_TURN = 200;

/** So many keys are compared before others have their turn. */
const KEYS_A_TURN = 5000;

/**
 * What differs between a copy that is in use and the directory as it is read
 * meanwhile, page after page. What is written into the copy in the same time
 * is newer than what was read, and no difference.
 */
export class TableCheck {
  readonly #tables: ReplicaTables;
  readonly #held: Pick<HeldValues, 'apply'>;
  readonly #written = new Set<string>();
  readonly #users = new Map<string, CopiedUser | undefined>();
  readonly #groups = new Map<string, GroupEntry | undefined>();
  readonly #agreements = new Map<string, CopiedAgreement | undefined>();

  constructor(tables: ReplicaTables, held: Pick<HeldValues, 'apply'>) {
    this.#tables = tables;
    this.#held = held;
  }

  /** The differences of a kind; `undefined` is an entry that was deleted. */
  found(kind: 'users'): ReadonlyMap<string, CopiedUser | undefined>;
  found(kind: ReplicaPortion['kind']): ReadonlyMap<string, unknown>;
  found(kind: ReplicaPortion['kind']): ReadonlyMap<string, unknown> {
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
  look(read: ReplicaPortion): void {
    const portion = this.#held.apply(read);
    const { users, groups, agreements } = this.#tables;
    switch (portion.kind) {
      case 'users':
        return keepDifferent(this.#users, portion.entries, users);
      case 'groups':
        return keepDifferent(this.#groups, portion.entries, groups);
      default:
        return keepDifferent(this.#agreements, portion.entries, agreements);
    }
  }

  /** Finds entries of the replica that are not among these keys. */
  async findDeleted(keys: Omit<ReplicaKeys, 'server'>): Promise<void> {
    const { users, groups, agreements } = this.#tables;
    await keepDeleted(this.#users, users.keys(), keys.users);
    await keepDeleted(this.#groups, groups.keys(), keys.groups);
    await keepDeleted(this.#agreements, agreements.keys(), keys.agreements);
  }

  /**
   * What has to be written to put the copy right, a little at a time: what is
   * written into the copy meanwhile is left out.
   */
  *differences(): Iterable<ReplicaPortion> {
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
    for (let at = 0; at < entries.length; at += ENTRIES_A_TURN) {
      yield entries
        .slice(at, at + ENTRIES_A_TURN)
        .filter(([key]) => !this.#written.has(key));
    }
  }
}

function keepDifferent<T>(
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

async function keepDeleted<T>(
  found: Map<string, T | undefined>,
  copied: Iterable<string>,
  keys: ReadonlySet<string>,
): Promise<void> {
  let looked = 0;
  for (const key of copied) {
    if (!keys.has(key)) {
      found.set(key, undefined);
    }
    if (++looked % KEYS_A_TURN === 0) {
      await nextTurn();
    }
  }
}
