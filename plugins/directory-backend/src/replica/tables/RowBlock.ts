import { publicKeyId } from '../../directory/publicKeys';
import type { SearchOnlyValues } from './entries';
import { TextColumn } from './TextColumn';
import { WordColumn } from './WordColumn';

/** An entry that the API serves. */
export interface ServedRecord<T> {
  /** Normalized DN. */
  readonly key: string;
  /** Name in the directory's spelling. */
  readonly name: string;
  /** Record with all fields. */
  readonly record: T;
  readonly searchOnly?: SearchOnlyValues<T>;
  /** See `UserEntry.uniqueId`. */
  readonly uniqueId?: string;
}

/** A served entry with its position in the order of lists. */
export class Row<T extends object> implements ServedRecord<T> {
  readonly key: string;
  readonly name: string;
  readonly record: T;
  readonly searchOnly: SearchOnlyValues<T> | undefined;
  readonly uniqueId: string | undefined;
  block: RowBlock<T> | undefined;
  /** Index in the block. */
  index = 0;

  constructor(served: ServedRecord<T>) {
    this.key = served.key;
    this.name = served.name;
    this.record = served.record;
    this.searchOnly = served.searchOnly;
    this.uniqueId = served.uniqueId;
  }

  /** Position in the order of lists. */
  get rank(): number {
    return (this.block?.start ?? 0) + this.index;
  }
}

/** Fields to index, by the type of their values. */
export interface IndexSpec<T> {
  readonly texts: readonly (keyof T)[];
  readonly words: readonly (keyof T)[];
  readonly times: readonly (keyof T)[];
  /** Values are public keys. */
  readonly keys: readonly (keyof T)[];
}

/** Values of one field of all rows, in a form for searches. */
interface Column {
  texts?: TextColumn;
  words?: WordColumn;
  keys?: TextColumn;
  times?: Float64Array;
  flags?: Uint8Array;
  /** Indexes of the rows that have the field. */
  present?: Uint32Array;
}

/**
 * Up to a thousand consecutive rows with their search indexes, which are built
 * on demand. A change discards the indexes of only one block.
 */
export class RowBlock<T extends object> {
  /** Rank of the first row. */
  start = 0;
  readonly #rows: Row<T>[];
  readonly #columns = new Map<keyof T, Column>();

  constructor(rows: Row<T>[]) {
    this.#rows = rows;
    this.#place(0);
  }

  get rows(): readonly Row<T>[] {
    return this.#rows;
  }

  insert(row: Row<T>, index: number): void {
    this.#rows.splice(index, 0, row);
    this.#place(index);
  }

  remove(index: number): void {
    this.#rows.splice(index, 1);
    this.#place(index);
  }

  /** Replaces a row with another row of the same name. */
  replace(index: number, row: Row<T>, changed: readonly (keyof T)[]): void {
    this.#rows[index] = row;
    row.block = this;
    row.index = index;
    for (const field of changed) {
      this.#columns.delete(field);
    }
  }

  /** Removes and returns the second half of the rows. */
  split(): RowBlock<T> {
    const rows = this.#rows.splice(this.#rows.length >>> 1);
    this.#columns.clear();
    return new RowBlock(rows);
  }

  /** Returns the texts of a field, by row index. */
  texts(field: keyof T): TextColumn {
    const column = this.#column(field);
    column.texts ??= TextColumn.of(this.#valuesOf(field));
    return column.texts;
  }

  /** Returns the words of a field, by row index. */
  words(field: keyof T): WordColumn {
    const column = this.#column(field);
    column.words ??= new WordColumn(this.#valuesOf(field));
    return column.words;
  }

  /** Returns the IDs of the public keys of a field, by row index. */
  keys(field: keyof T): TextColumn {
    const column = this.#column(field);
    column.keys ??= TextColumn.of(this.#valuesOf(field), publicKeyId);
    return column.keys;
  }

  /** Returns the times of a field, by row index; NaN for missing values. */
  times(field: keyof T): Float64Array {
    const column = this.#column(field);
    column.times ??= Float64Array.from(this.#rows, ({ record }) => {
      const value = record[field];
      return value instanceof Date ? value.getTime() : NaN;
    });
    return column.times;
  }

  /** Returns 1 for each row in which a field is true, by row index. */
  flags(field: keyof T): Uint8Array {
    const column = this.#column(field);
    column.flags ??= Uint8Array.from(this.#rows, ({ record }) =>
      record[field] === true ? 1 : 0,
    );
    return column.flags;
  }

  /** Returns the indexes of the rows that have a field. */
  present(field: keyof T): Uint32Array {
    const column = this.#column(field);
    column.present ??= Uint32Array.from(
      this.#rows.flatMap(({ record }, index) =>
        record[field] === undefined ? [] : index,
      ),
    );
    return column.present;
  }

  /** Builds missing indexes, one per step of the iteration. */
  *buildIndexes({ texts, words, times, keys }: IndexSpec<T>): Iterable<void> {
    for (const field of texts) {
      const column = this.#column(field);
      if (!column.texts || !column.present) {
        this.texts(field);
        yield void this.present(field);
      }
    }
    for (const field of words) {
      if (!this.#column(field).words) {
        yield void this.words(field);
      }
    }
    for (const field of times) {
      if (!this.#column(field).times) {
        yield void this.times(field);
      }
    }
    for (const field of keys) {
      if (!this.#column(field).keys) {
        yield void this.keys(field);
      }
    }
  }

  #valuesOf(field: keyof T): readonly (readonly string[])[] {
    return this.#rows.map(({ record, searchOnly }) =>
      [record[field], searchOnly?.[field]]
        .flat()
        .filter(each => typeof each === 'string'),
    );
  }

  #column(field: keyof T): Column {
    let column = this.#columns.get(field);
    if (!column) {
      column = {};
      this.#columns.set(field, column);
    }
    return column;
  }

  /** Renumbers the rows from an index on, and discards all columns. */
  #place(from: number): void {
    for (let index = from; index < this.#rows.length; index++) {
      this.#rows[index].block = this;
      this.#rows[index].index = index;
    }
    this.#columns.clear();
  }
}
