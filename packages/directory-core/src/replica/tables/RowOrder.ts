import { compareNames } from '../../directory/names';
import { type Row, RowBlock } from './RowBlock';

/** Limits the duration of a change, which affects one block. */
const MAX_ROWS = 1000;

/**
 * Rows in the order of lists, divided into blocks: an insertion or deletion
 * moves the rows of only one block, so it does not block the event loop.
 */
export class RowOrder<T extends object> {
  readonly #blocks: RowBlock<T>[] = [];
  #all: Row<T>[] | undefined;

  get blocks(): readonly RowBlock<T>[] {
    return this.#blocks;
  }

  /** All rows. The array may change with the next write. */
  get rows(): readonly Row<T>[] {
    this.#all ??= this.#blocks.flatMap(({ rows }) => rows);
    return this.#all;
  }

  /** Returns the first row with a name, compared case-insensitively. */
  named(name: string): Row<T> | undefined {
    const folded = name.toLowerCase();
    const isFrom = (row: Row<T>) => row.name.toLowerCase() >= folded;
    const block =
      this.#blocks[
        firstWhere(this.#blocks, ({ rows }) => isFrom(rows.at(-1)!))
      ];
    const row = block?.rows[firstWhere(block.rows, isFrom)];
    return row?.name.toLowerCase() === folded ? row : undefined;
  }

  insert(row: Row<T>): void {
    const at = Math.max(
      firstWhere(this.#blocks, ({ rows }) => isAfter(rows[0], row)) - 1,
      0,
    );
    const block = this.#blocks[at] ?? new RowBlock<T>([]);
    this.#blocks[at] = block;
    block.insert(
      row,
      firstWhere(block.rows, other => isAfter(other, row)),
    );
    if (block.rows.length > MAX_ROWS) {
      this.#blocks.splice(at + 1, 0, block.split());
    }
    this.#place(at);
  }

  /** Replaces a row with another row of the same name and key. */
  replace(old: Row<T>, row: Row<T>, changed: readonly (keyof T)[]): void {
    old.block!.replace(old.index, row, changed);
    if (this.#all) {
      this.#all[row.rank] = row;
    }
  }

  remove(row: Row<T>): void {
    const block = row.block!;
    const at = this.#blocks.indexOf(block);
    block.remove(row.index);
    if (block.rows.length === 0) {
      this.#blocks.splice(at, 1);
    }
    this.#place(at);
  }

  /**
   * Returns the ranks of the rows whose indexes a function returns for each
   * block.
   */
  find(indexesIn: (block: RowBlock<T>) => ArrayLike<number>): Uint32Array {
    const parts = this.#blocks.map(indexesIn);
    const found = new Uint32Array(
      parts.reduce((total, { length }) => total + length, 0),
    );
    let at = 0;
    for (const [number, indexes] of parts.entries()) {
      const { start } = this.#blocks[number];
      for (let each = 0; each < indexes.length; each++) {
        found[at++] = start + indexes[each];
      }
    }
    return found;
  }

  /** Sets the first rank of each block from an index on. */
  #place(from: number): void {
    this.#all = undefined;
    let start = from > 0 ? endOf(this.#blocks[from - 1]) : 0;
    for (const block of this.#blocks.slice(from)) {
      block.start = start;
      start = endOf(block);
    }
  }
}

function endOf<T extends object>({ start, rows }: RowBlock<T>): number {
  return start + rows.length;
}

function isAfter<T extends object>(a: Row<T>, b: Row<T>): boolean {
  return (compareNames(a.name, b.name) || (a.key < b.key ? -1 : 1)) > 0;
}

/**
 * Returns the index of the first item that passes, by binary search. All later
 * items must pass, too.
 */
function firstWhere<E>(
  items: readonly E[],
  passes: (item: E) => boolean,
): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(items[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
