import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { inOrder } from './rankSets';
import type { SearchOnlyValues } from '../sync/ReplicaSource';
import { Row, type IndexSpec } from './RowBlock';
import { RowOrder } from './RowOrder';

/** An entry that the API serves. */
export interface ServedRecord<T> {
  /** Its normalized DN. */
  readonly key: string;
  /** In the directory's spelling. */
  readonly name: string;
  /** With all fields. */
  readonly record: T;
  /** Values that a search finds and a record does not show. */
  readonly searchOnly?: SearchOnlyValues<T>;
}

/**
 * The served entries of one kind, by their keys and in the order of lists. An
 * entry's rank is its place there; what is found is told in ranks, so that it
 * is in order and one finding can be compared with another.
 */
export class ServedRecords<T extends object> {
  readonly #byKey = new Map<string, Row<T>>();
  readonly #order = new RowOrder<T>();
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
    return this.#order.rows;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  get(key: string): ServedRecord<T> | undefined {
    return this.#byKey.get(key);
  }

  /** The fields that are not what they are of the entry that is here. */
  changesBy(served: ServedRecord<T>): readonly (keyof T)[] {
    return changedFields(this.#byKey.get(served.key), served);
  }

  /** @returns the fields that are not what they were */
  set(served: ServedRecord<T>): readonly (keyof T)[] {
    const old = this.#byKey.get(served.key);
    const changed = changedFields(old, served);
    if (changed.length === 0) {
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

  /** The ranks of those of these keys that are served, in order, each once. */
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

  /** The ranks of the entries of which a field is not true, in order. */
  ranksWithout(field: keyof T): Uint32Array {
    return this.#order.find(block => block.without(field));
  }

  /** By rank, 1 where a field is true: to ask about very many at once. */
  flags(field: keyof T): Uint8Array {
    const flags = new Uint8Array(this.size);
    for (const block of this.#order.blocks) {
      flags.set(block.flags(field), block.start);
    }
    return flags;
  }

  /** The ranks of the entries that have a field, in order. */
  ranksWith(field: keyof T): Uint32Array {
    return this.#order.find(block => block.present(field));
  }

  /** The ranks of the entries with a value that contains a text, in order. */
  ranksContaining(field: keyof T, text: string): Uint32Array {
    return this.#order.find(block => block.texts(field).containing(text));
  }

  /** The ranks of the entries with a value that is a text, in order. */
  ranksEqualTo(field: keyof T, text: string): Uint32Array {
    return this.#order.find(block => block.texts(field).equalTo(text));
  }

  /** The ranks of the entries whose value is before a time, in order. */
  ranksBefore(field: keyof T, time: Date): Uint32Array {
    const end = time.getTime();
    return this.#order.find(block => indexesBelow(block.times(field), end));
  }

  /**
   * Gathers what is lacking for searches of these fields, with others' turns
   * between.
   */
  async buildIndexes(gathering: IndexSpec<T>): Promise<void> {
    for (const block of [...this.#order.blocks]) {
      for (const _ of block.buildIndexes(gathering)) {
        await nextTurn();
      }
    }
  }
}

function indexesBelow(values: Float64Array, end: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < values.length; index++) {
    if (values[index] < end) {
      found.push(index);
    }
  }
  return found;
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
          !isDeepStrictEqual(old.searchOnly?.[field], now.searchOnly?.[field]),
      )
    : fields;
}
