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

/** Values of one field of consecutive rows, in forms for searches. */
export interface Columns {
  readonly texts: TextColumn;
  readonly words: WordColumn;
  /** IDs of public keys. */
  readonly keys: TextColumn;
  /** Times by row index; NaN for missing values. */
  readonly times: Float64Array;
  /** 1 for each row in which the field is true, by row index. */
  readonly flags: Uint8Array;
  /** Indexes of the rows that have the field. */
  readonly present: Uint32Array;
}

/** Form of a column. */
export type ColumnKind = keyof Columns;

/** Fields to index, by the form of their columns. */
export type IndexSpec<T> = Partial<Record<ColumnKind, readonly (keyof T)[]>>;

const builders: {
  readonly [Kind in ColumnKind]: <T extends object>(
    rows: readonly Row<T>[],
    field: keyof T,
  ) => Columns[Kind];
} = {
  texts: (rows, field) => TextColumn.of(textsOf(rows, field)),
  words: (rows, field) => new WordColumn(textsOf(rows, field)),
  keys: (rows, field) => TextColumn.of(textsOf(rows, field), publicKeyId),
  times: (rows, field) =>
    Float64Array.from(rows, ({ record }) => {
      const value = record[field];
      return value instanceof Date ? value.getTime() : NaN;
    }),
  flags: (rows, field) =>
    Uint8Array.from(rows, ({ record }) => (record[field] === true ? 1 : 0)),
  present: (rows, field) =>
    Uint32Array.from(
      rows.flatMap(({ record }, index) =>
        record[field] === undefined ? [] : index,
      ),
    ),
};

function textsOf<T extends object>(
  rows: readonly Row<T>[],
  field: keyof T,
): readonly (readonly string[])[] {
  return rows.map(({ record, searchOnly }) =>
    [record[field], searchOnly?.[field]]
      .flat()
      .filter(each => typeof each === 'string'),
  );
}

/**
 * Up to a thousand consecutive rows with their search indexes, which are built
 * on demand. A change discards the indexes of only one block.
 */
export class RowBlock<T extends object> {
  /** Rank of the first row. */
  start = 0;
  readonly #rows: Row<T>[];
  readonly #columns = new Map<keyof T, Partial<Columns>>();

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

  /** Returns a column of a field. */
  column<K extends ColumnKind>(kind: K, field: keyof T): Columns[K] {
    const columns = this.#columns.get(field) ?? {};
    this.#columns.set(field, columns);
    const column = columns[kind] ?? builders[kind](this.#rows, field);
    columns[kind] = column;
    return column;
  }

  /** Builds missing columns, one per step of the iteration. */
  *buildIndexes(spec: IndexSpec<T>): Iterable<void> {
    for (const [kind, fields] of Object.entries(spec)) {
      for (const field of fields) {
        if (!this.#columns.get(field)?.[kind as ColumnKind]) {
          yield void this.column(kind as ColumnKind, field);
        }
      }
    }
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
