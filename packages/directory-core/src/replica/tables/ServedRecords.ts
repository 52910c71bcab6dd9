import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { inOrder, ranksBelow } from './rankSets';
import {
  type ColumnKind,
  type Columns,
  type IndexSpec,
  Row,
  type ServedRecord,
} from './RowBlock';
import { RowOrder } from './RowOrder';

/** Read-only part of {@link ServedRecords}. */
export type ReadableRecords<T extends object> = Omit<
  ServedRecords<T>,
  'set' | 'delete' | 'buildIndexes'
>;

/**
 * The served entries of one kind, by key and in the order of lists. The rank of
 * an entry is its position in that order. Searches return ranks in order, so
 * that results can be combined without sorting.
 */
export class ServedRecords<T extends object> {
  readonly #byKey = new Map<string, Row<T>>();
  readonly #order = new RowOrder<T>();
  #rankVersion = 0;
  #allRanks: Uint32Array = new Uint32Array();

  get size(): number {
    return this.#byKey.size;
  }

  /** Version that changes when entries get other ranks. */
  get rankVersion(): number {
    return this.#rankVersion;
  }

  /** Entries sorted by name. */
  get inOrder(): readonly ServedRecord<T>[] {
    return this.#order.rows;
  }

  /** The ranks of all entries. */
  get allRanks(): Uint32Array {
    if (this.#allRanks.length !== this.size) {
      this.#allRanks = ranksBelow(this.size);
    }
    return this.#allRanks;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  get(key: string): ServedRecord<T> | undefined {
    return this.#byKey.get(key);
  }

  /** Returns the first entry with a name, compared case-insensitively. */
  named(name: string): ServedRecord<T> | undefined {
    return this.#order.named(name);
  }

  /** Whether an entry differs from the current one. */
  differs(served: ServedRecord<T>): boolean {
    return (
      this.changesBy(served).length > 0 ||
      this.#byKey.get(served.key)?.uniqueId !== served.uniqueId
    );
  }

  /** Returns the fields in which a record differs from the current one. */
  changesBy(served: ServedRecord<T>): readonly (keyof T)[] {
    const old = this.#byKey.get(served.key);
    const fields = Object.keys(served.record) as (keyof T)[];
    return old ? fields.filter(field => isChanged(field, old, served)) : fields;
  }

  /** @returns the fields that have changed */
  set(served: ServedRecord<T>): readonly (keyof T)[] {
    const changed = this.changesBy(served);
    const old = this.#byKey.get(served.key);
    if (changed.length === 0 && old?.uniqueId === served.uniqueId) {
      return changed;
    }
    const row = new Row(old ? { ...served, key: old.key } : served);
    this.#byKey.set(row.key, row);
    if (old?.name === row.name) {
      this.#order.replace(old, row, changed);
    } else {
      if (old) {
        this.#order.remove(old);
      }
      this.#order.insert(row);
      this.#rankVersion++;
    }
    return changed;
  }

  delete(key: string): void {
    const row = this.#byKey.get(key);
    if (row) {
      this.#byKey.delete(key);
      this.#order.remove(row);
      this.#rankVersion++;
    }
  }

  /** Returns the ranks of the served entries with these keys, each once. */
  ranksOf(keys: Iterable<string>): Uint32Array {
    const ranks: number[] = [];
    for (const key of keys) {
      const row = this.#byKey.get(key);
      if (row) {
        ranks.push(row.rank);
      }
    }
    return inOrder(ranks, this.size);
  }

  /** Returns 1 for each entry in which a field is true, by rank. */
  flags(field: keyof T): Uint8Array {
    const flags = new Uint8Array(this.size);
    for (const block of this.#order.blocks) {
      flags.set(block.column('flags', field), block.start);
    }
    return flags;
  }

  /**
   * Returns the ranks of the entries that a function finds in a column of a
   * field.
   *
   * @param indexesIn - returns indexes in a column, in order
   */
  find<K extends ColumnKind>(
    kind: K,
    field: keyof T,
    indexesIn: (column: Columns[K]) => ArrayLike<number>,
  ): Uint32Array {
    return this.#order.find(block => indexesIn(block.column(kind, field)));
  }

  /** Builds missing indexes. Yields to the event loop in between. */
  async buildIndexes(spec: IndexSpec<T>): Promise<void> {
    for (const block of [...this.#order.blocks]) {
      for (const _ of block.buildIndexes(spec)) {
        await nextTurn();
      }
    }
  }
}

function isChanged<T>(
  field: keyof T,
  old: ServedRecord<T>,
  now: ServedRecord<T>,
): boolean {
  return (
    !isDeepStrictEqual(old.record[field], now.record[field]) ||
    !isDeepStrictEqual(old.searchOnly?.[field], now.searchOnly?.[field])
  );
}
