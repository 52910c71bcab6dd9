import type { SearchOnlyValues } from '../sync/ReplicaSource';
import { TextColumn } from './TextColumn';
import type { ServedRecord } from './ServedRecords';

/** An entry in its place among the others. */
export class Row<T extends object> implements ServedRecord<T> {
  readonly key: string;
  readonly name: string;
  readonly record: T;
  readonly searchOnly: SearchOnlyValues<T> | undefined;
  block: RowBlock<T> | undefined;
  /** In its block. */
  index = 0;

  constructor(served: ServedRecord<T>) {
    this.key = served.key;
    this.name = served.name;
    this.record = served.record;
    this.searchOnly = served.searchOnly;
  }

  /** Its place in the order of lists. */
  get rank(): number {
    return (this.block?.start ?? 0) + this.index;
  }
}

/** Fields by what searches look for in them. */
export interface IndexSpec<T> {
  readonly texts: readonly (keyof T)[];
  readonly times: readonly (keyof T)[];
}

/** Values that a search compares with. */
type Column = TextColumn | Float64Array | Uint32Array | Uint8Array;

/**
 * Some hundred rows that follow each other, with what was gathered of them for
 * searches. A change is one of its block, and only that is gathered again.
 */
export class RowBlock<T extends object> {
  /** The rank of its first row. */
  start = 0;
  readonly #rows: Row<T>[];
  readonly #texts = new Map<keyof T, TextColumn>();
  readonly #times = new Map<keyof T, Float64Array>();
  readonly #present = new Map<keyof T, Uint32Array>();
  readonly #without = new Map<keyof T, Uint32Array>();
  readonly #flags = new Map<keyof T, Uint8Array>();

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
    this.#forgetAll();
  }

  remove(index: number): void {
    this.#rows.splice(index, 1);
    this.#place(index);
    this.#forgetAll();
  }

  /** Puts a row in the place of another of the same name. */
  replace(index: number, row: Row<T>, changed: readonly (keyof T)[]): void {
    this.#rows[index] = row;
    row.block = this;
    row.index = index;
    for (const columns of this.#columns()) {
      for (const field of changed) {
        columns.delete(field);
      }
    }
  }

  /** Gives up the second half of its rows. */
  split(): RowBlock<T> {
    const rows = this.#rows.splice(this.#rows.length >>> 1);
    this.#forgetAll();
    return new RowBlock(rows);
  }

  /** The texts of a field, by the index of the row. */
  texts(field: keyof T): TextColumn {
    return kept(this.#texts, field, () =>
      TextColumn.of(
        this.#rows.map(({ record, searchOnly }) =>
          [record[field], searchOnly?.[field]]
            .flat()
            .filter(each => typeof each === 'string'),
        ),
      ),
    );
  }

  /** The times of a field, by the index of the row; NaN where there is none. */
  times(field: keyof T): Float64Array {
    return kept(this.#times, field, () =>
      Float64Array.from(this.#rows, ({ record }) => {
        const value = record[field];
        return value instanceof Date ? value.getTime() : NaN;
      }),
    );
  }

  /** The indexes of the rows that have a field. */
  present(field: keyof T): Uint32Array {
    return kept(this.#present, field, () =>
      this.#indexesWhere(record => record[field] !== undefined),
    );
  }

  /** By the index of the row, 1 where a field is true. */
  flags(field: keyof T): Uint8Array {
    return kept(this.#flags, field, () =>
      Uint8Array.from(this.#rows, ({ record }) =>
        record[field] === true ? 1 : 0,
      ),
    );
  }

  /** The indexes of the rows of which a field is not true. */
  without(field: keyof T): Uint32Array {
    return kept(this.#without, field, () =>
      this.#indexesWhere(record => record[field] !== true),
    );
  }

  /** Gathers what is lacking of these, one at a time. */
  *buildIndexes({ texts, times }: IndexSpec<T>): Iterable<void> {
    for (const field of texts) {
      if (!this.#texts.has(field) || !this.#present.has(field)) {
        this.texts(field);
        yield void this.present(field);
      }
    }
    for (const field of times) {
      if (!this.#times.has(field)) {
        yield void this.times(field);
      }
    }
  }

  #indexesWhere(passes: (record: T) => boolean): Uint32Array {
    const found: number[] = [];
    for (const [index, { record }] of this.#rows.entries()) {
      if (passes(record)) {
        found.push(index);
      }
    }
    return Uint32Array.from(found);
  }

  #place(from: number): void {
    for (let index = from; index < this.#rows.length; index++) {
      this.#rows[index].block = this;
      this.#rows[index].index = index;
    }
  }

  #columns() {
    return [
      ...[this.#texts, this.#times, this.#present],
      ...[this.#without, this.#flags],
    ];
  }

  #forgetAll(): void {
    for (const columns of this.#columns()) {
      columns.clear();
    }
  }
}

function kept<F, C extends Column>(
  columns: Map<F, C>,
  field: F,
  buildIndexes: () => C,
): C {
  let column = columns.get(field);
  if (!column) {
    column = buildIndexes();
    columns.set(field, column);
  }
  return column;
}
