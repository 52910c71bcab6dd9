import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplicaTables } from './ReplicaTables';
import type { ReplicaEntries } from './ReplicaSource';

/** So many entries are taken in before others have their turn. */
const ENTRIES_A_TURN = 200;

/** Longer than any reading takes that was begun before an entry was gone. */
const GONE_IS_KNOWN_MS = 10 * 60_000;

/** Writes into a copy what was read, which may be over by then. */
export class TableWriter {
  readonly #tables: ReplicaTables;
  /** When keys were last heard to be gone. */
  readonly #gone = new Map<string, number>();

  constructor(tables: ReplicaTables) {
    this.#tables = tables;
  }

  /** Takes in what was asked for at a time, and is there. */
  async take(entries: ReplicaEntries, askedAt: number): Promise<void> {
    const { users, groups, agreements } = this.#tables;
    await this.#each(entries.users, askedAt, (key, user) =>
      user ? users.set(key, user) : users.delete(key),
    );
    await this.#each(entries.groups, askedAt, (key, group) =>
      group ? groups.set(key, group) : groups.delete(key),
    );
    await this.#each(entries.agreements, askedAt, (key, agreement) =>
      agreement ? agreements.set(key, agreement) : agreements.delete(key),
    );
  }

  async #each<T>(
    entries: ReadonlyMap<string, T>,
    askedAt: number,
    take: (key: string, entry: T) => void,
  ): Promise<void> {
    let taken = 0;
    for (const [key, entry] of entries) {
      // It may have been read before it was gone.
      if ((this.#gone.get(key) ?? -Infinity) < askedAt) {
        take(key, entry);
      }
      if (++taken % ENTRIES_A_TURN === 0) {
        await nextTurn();
      }
    }
  }

  /** Drops what is not among these keys. */
  keepOnly(
    keys: Record<
      'users' | 'groups' | 'agreements',
      { has(key: string): boolean }
    >,
  ): void {
    for (const kind of ['users', 'groups', 'agreements'] as const) {
      const table = this.#tables[kind];
      for (const key of [...table.keys()]) {
        if (!keys[kind].has(key)) {
          table.delete(key);
        }
      }
    }
  }

  /** Drops an entry that is gone. */
  remove(key: string): void {
    const now = performance.now();
    this.#tables.users.delete(key);
    this.#tables.groups.delete(key);
    this.#tables.agreements.delete(key);
    for (const [other, at] of this.#gone) {
      if (now - at < GONE_IS_KNOWN_MS) {
        break;
      }
      this.#gone.delete(other);
    }
    this.#gone.delete(key);
    this.#gone.set(key, now);
  }
}
