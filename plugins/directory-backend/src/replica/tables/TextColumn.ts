import { foldText } from './foldText';

/** Stands between values, and in none: the directory reads up to it only. */
const END = '\0';
/** Stands for it in a value; no character (Unicode §23.7). */
const NO_CHARACTER = '\uffff';

/**
 * The values of one field of a list of entries, folded and put together into
 * one text, so that a search of all of them is one search of a text: of 20,000
 * values it takes a fraction of a millisecond, and a value costs little more
 * memory than its letters.
 */
export class TextColumn {
  /** `\0value\0value\0`. */
  readonly #text: string;
  /** Where each value begins. */
  readonly #starts: Uint32Array;
  /** The rank of the entry that has it. */
  readonly #ranks: Uint32Array;
  /** Of each value: what is equal has the same. */
  readonly #hashes: Uint32Array;

  private constructor(values: readonly string[], ranks: readonly number[]) {
    this.#text = `${END}${values.join(END)}${END}`;
    this.#ranks = Uint32Array.from(ranks);
    this.#hashes = Uint32Array.from(values, hashOf);
    this.#starts = new Uint32Array(values.length);
    let start = END.length;
    for (const [index, value] of values.entries()) {
      this.#starts[index] = start;
      start += value.length + END.length;
    }
  }

  /** @param valuesByRank - the values of each entry */
  static of(valuesByRank: readonly (readonly string[])[]): TextColumn {
    const values: string[] = [];
    const ranks: number[] = [];
    for (const [rank, some] of valuesByRank.entries()) {
      for (const value of some) {
        values.push(foldText(value).replaceAll(END, NO_CHARACTER));
        ranks.push(rank);
      }
    }
    return new TextColumn(values, ranks);
  }

  /** The ranks of those with a value that contains the text, in order. */
  containing(text: string): Uint32Array {
    const found: number[] = [];
    const wanted = foldText(text);
    let at = this.#text.indexOf(wanted, END.length);
    while (at !== -1) {
      const value = this.#valueAt(at);
      if (value === undefined) {
        break;
      }
      if (found.at(-1) !== this.#ranks[value]) {
        found.push(this.#ranks[value]);
      }
      // What else the same value contains says nothing new.
      const next = this.#starts[value + 1] ?? this.#text.length;
      at = this.#text.indexOf(wanted, next);
    }
    return Uint32Array.from(found);
  }

  /** The ranks of those with a value that is the text, in order. */
  equalTo(text: string): Uint32Array {
    const found: number[] = [];
    const wanted = foldText(text);
    const hash = hashOf(wanted);
    let value = this.#hashes.indexOf(hash);
    while (value !== -1) {
      const rank = this.#ranks[value];
      if (found.at(-1) !== rank && this.#isValue(value, wanted)) {
        found.push(rank);
      }
      value = this.#hashes.indexOf(hash, value + 1);
    }
    return Uint32Array.from(found);
  }

  #isValue(value: number, text: string): boolean {
    const start = this.#starts[value];
    return (
      this.#text.startsWith(text, start) &&
      this.#text[start + text.length] === END
    );
  }

  /** The last value that begins there or before, by halving what is left. */
  #valueAt(place: number): number | undefined {
    let low = 0;
    let high = this.#starts.length - 1;
    if (high < 0 || place >= this.#text.length) {
      return undefined;
    }
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#starts[middle] <= place) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}

/** FNV-1a of 32 bits over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
