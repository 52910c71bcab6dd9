import { isDeepStrictEqual } from 'node:util';
import { compareNames } from '../directory/names';
import { TextColumn } from './TextColumn';

/** An entry that the API serves. */
export interface ServedRecord<T> {
  /** Its normalized DN. */
  readonly key: string;
  /** In the directory's spelling. */
  readonly name: string;
  /** With all fields. */
  readonly record: T;
  /** Values that a search finds and a record does not show. */
  readonly unshown?: UnshownTexts<T>;
}

/** Of a field that shows one value, the further ones that the entry has. */
export type UnshownTexts<T> = Partial<Record<keyof T, readonly string[]>>;

interface Order<T> {
  readonly rows: ServedRecord<T>[];
  readonly ranks: Map<string, number>;
}

/**
 * The served entries of one kind, by their keys and in the order of lists. An
 * entry's rank is its place there; what is found is told in ranks, so that it
 * is in order and one finding can be compared with another.
 */
export class ServedRecords<T extends object> {
  readonly #byKey = new Map<string, ServedRecord<T>>();
  readonly #columns = new Map<keyof T, TextColumn>();
  /** Ranks of the entries that have a field, by field. */
  readonly #present = new Map<keyof T, Uint32Array>();
  /** Made when it is needed: while a copy is built nobody asks for it. */
  #order: Order<T> | undefined;
  #rankVersion = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** Moves when ranks no longer mean what they did. */
  get rankVersion(): number {
    return this.#rankVersion;
  }

  /** By name. */
  get inOrder(): readonly ServedRecord<T>[] {
    return this.#inOrder().rows;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  get(key: string): ServedRecord<T> | undefined {
    return this.#byKey.get(key);
  }

  /** @returns the fields that are not what they were */
  set(row: ServedRecord<T>): readonly (keyof T)[] {
    const old = this.#byKey.get(row.key);
    const changed = changedFields(old, row);
    if (changed.length === 0) {
      return changed;
    }
    this.#byKey.set(row.key, row);
    if (old?.name !== row.name) {
      this.#reorder();
      return changed;
    }
    for (const field of changed) {
      this.#columns.delete(field);
      this.#present.delete(field);
    }
    const rank = this.#order?.ranks.get(row.key);
    if (rank !== undefined) {
      this.#order!.rows[rank] = row;
    }
    return changed;
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) {
      this.#reorder();
    }
  }

  /** The ranks of those of these keys that are served, in order, each once. */
  ranksOf(keys: Iterable<string>): Uint32Array {
    const { ranks } = this.#inOrder();
    const found = new Set<number>();
    for (const key of keys) {
      const rank = ranks.get(key);
      if (rank !== undefined) {
        found.add(rank);
      }
    }
    return Uint32Array.from(found).sort();
  }

  /** The ranks of the entries that pass, in order. */
  ranksWhere(passes: (record: T) => boolean): Uint32Array {
    const { inOrder } = this;
    return Uint32Array.from(inOrder.keys()).filter(rank =>
      passes(inOrder[rank].record),
    );
  }

  /** The ranks of the entries that have a field, in order. */
  ranksWith(field: keyof T): Uint32Array {
    let ranks = this.#present.get(field);
    if (!ranks) {
      ranks = this.ranksWhere(record => record[field] !== undefined);
      this.#present.set(field, ranks);
    }
    return ranks;
  }

  /** The texts of a field, gathered when it is searched first. */
  column(field: keyof T): TextColumn {
    let column = this.#columns.get(field);
    if (!column) {
      column = TextColumn.of(
        this.inOrder.map(({ record, unshown }) =>
          textsOf([record[field], unshown?.[field]].flat()),
        ),
      );
      this.#columns.set(field, column);
    }
    return column;
  }

  #reorder(): void {
    this.#order = undefined;
    this.#columns.clear();
    this.#present.clear();
    this.#rankVersion++;
  }

  #inOrder(): Order<T> {
    if (!this.#order) {
      const rows = [...this.#byKey.values()].sort(
        (a, b) => compareNames(a.name, b.name) || (a.key < b.key ? -1 : 1),
      );
      const ranks = new Map(rows.map(({ key }, rank) => [key, rank]));
      this.#order = { rows, ranks };
    }
    return this.#order;
  }
}

/** What is text of a value; a search compares with nothing else. */
function textsOf(values: readonly unknown[]): readonly string[] {
  return values.filter(each => typeof each === 'string');
}

function changedFields<T extends object>(
  old: ServedRecord<T> | undefined,
  now: ServedRecord<T>,
): readonly (keyof T)[] {
  const fields = Object.keys(now.record) as (keyof T)[];
  return old
    ? fields.filter(
        field =>
          !isDeepStrictEqual(old.record[field], now.record[field]) ||
          !isDeepStrictEqual(old.unshown?.[field], now.unshown?.[field]),
      )
    : fields;
}
