import { compareNames } from '../../directory/names';
import { RowBlock, type Row } from './RowBlock';

/** More in a block would make a change of one of them long. */
const MAX_ROWS = 1000;

/**
 * Rows in the order of lists, in blocks: wherever a row is put in or taken
 * out, it moves no more than the rows of its block, and all else goes on as it
 * is. So a copy of any size is built, and changed, without a pause.
 */
export class RowOrder<T extends object> {
  readonly #blocks: RowBlock<T>[] = [];
  #all: Row<T>[] | undefined;

  get blocks(): readonly RowBlock<T>[] {
    return this.#blocks;
  }

  /** All of them, to be read at once: a row may be replaced in it. */
  get rows(): readonly Row<T>[] {
    this.#all ??= this.#blocks.flatMap(({ rows }) => rows);
    return this.#all;
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
    this.#moved(at);
  }

  /** Puts a row in the place of another of the same name and key. */
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
    this.#moved(at);
  }

  /** The ranks of what is found in each block, in order. */
  find(indexesIn: (block: RowBlock<T>) => ArrayLike<number>): Uint32Array {
    const parts = this.#blocks.map(indexesIn);
    const found = new Uint32Array(sum(parts.map(({ length }) => length)));
    let at = 0;
    for (const [number, indexes] of parts.entries()) {
      const { start } = this.#blocks[number];
      for (let each = 0; each < indexes.length; each++) {
        found[at++] = start + indexes[each];
      }
    }
    return found;
  }

  #moved(from: number): void {
    this.#all = undefined;
    let start = from > 0 ? endOf(this.#blocks[from - 1]) : 0;
    for (const block of this.#blocks.slice(from)) {
      block.start = start;
      start = endOf(block);
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function endOf<T extends object>({ start, rows }: RowBlock<T>): number {
  return start + rows.length;
}

function isAfter<T extends object>(a: Row<T>, b: Row<T>): boolean {
  return (compareNames(a.name, b.name) || (a.key < b.key ? -1 : 1)) > 0;
}

/** The first index from which on all pass, by halving what is left. */
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
