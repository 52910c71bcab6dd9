import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import { TextColumn } from './TextColumn';

/** Precedes each word. */
const SPACE = ' ';

/** How a word of a value matches a text. */
export type WordMatch =
  /** It begins with the text. */
  | 'wordPrefix'
  /** It contains the text. */
  | 'wordPart'
  /** It differs by one letter at most. */
  | 'similarWord';

/** The words of one field of a list of entries, as {@link foldWords} returns them. */
export class WordColumn {
  readonly #column: TextColumn;

  /** @param valuesByRank - the values of each entry */
  constructor(valuesByRank: readonly (readonly string[])[]) {
    this.#column = TextColumn.of(
      valuesByRank,
      value => SPACE + foldWords(value).join(SPACE),
    );
  }

  /** Ranks of the entries with a word that matches a folded one. */
  matching(match: WordMatch, word: string): Uint32Array {
    switch (match) {
      case 'wordPrefix':
        return this.#column.containing(SPACE + word);
      case 'wordPart':
        return this.#column.containing(word);
      default:
        return this.#column.where(value =>
          value.split(SPACE).some(other => areSimilar(word, other)),
        );
    }
  }
}

/**
 * Whether two words differ by one letter at most: another letter, one more, or
 * two neighbors that are swapped.
 */
export function areSimilar(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const lengthDifference = long.length - short.length;
  if (lengthDifference > 1) {
    return false;
  }
  let at = 0;
  while (at < short.length && short[at] === long[at]) {
    at++;
  }
  if (lengthDifference === 1) {
    return short.slice(at) === long.slice(at + 1);
  }
  const isSwapped =
    short[at] === long[at + 1] &&
    short[at + 1] === long[at] &&
    short.slice(at + 2) === long.slice(at + 2);
  return isSwapped || short.slice(at + 1) === long.slice(at + 1);
}
