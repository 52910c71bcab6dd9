import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import { TextColumn } from './TextColumn';

/** Precedes each word. */
const SPACE = ' ';

/** How a word of a value matches a text. */
type WordMatch =
  /** The word begins with the text. */
  | 'wordPrefix'
  /** The word contains the text. */
  | 'wordPart'
  /** The word differs by at most one letter. */
  | 'similarWord';

/** The words of one field of a list of entries, split by {@link foldWords}. */
export class WordColumn {
  readonly #column: TextColumn;

  /** @param valuesByRank - the values of each entry */
  constructor(valuesByRank: readonly (readonly string[])[]) {
    this.#column = TextColumn.of(
      valuesByRank,
      value => SPACE + foldWords(value).join(SPACE),
    );
  }

  /**
   * Returns the ranks of the entries with a word that matches a folded word.
   */
  matching(match: WordMatch, word: string): Uint32Array {
    switch (match) {
      case 'wordPrefix':
        return this.#column.containing(SPACE + word);
      case 'wordPart':
        return this.#column.containing(word);
      default:
        return this.#column.where((text, start, end) =>
          hasSimilar(word, { text, start, end }),
        );
    }
  }
}

/**
 * Returns whether a part of a text has a word that is similar to another word.
 */
function hasSimilar(
  word: string,
  part: { readonly text: string; readonly start: number; readonly end: number },
): boolean {
  const { text, end } = part;
  let from = part.start + SPACE.length;
  while (from < end) {
    const next = text.indexOf(SPACE, from);
    const to = next === -1 ? end : Math.min(next, end);
    if (areSimilar(word, text, from, to)) {
      return true;
    }
    from = to + SPACE.length;
  }
  return false;
}

/**
 * Returns whether a word differs from a part of a text by at most one letter: a
 * replaced, added or missing letter, or two swapped neighbors.
 *
 * @param from - start of the part. Default: start of the text
 * @param to - end of the part. Default: end of the text
 */
export function areSimilar(
  word: string,
  text: string,
  from = 0,
  to = text.length,
): boolean {
  const longer = to - from - word.length;
  if (Math.abs(longer) > 1) {
    return false;
  }
  let at = 0;
  while (at < word.length && from + at < to && word[at] === text[from + at]) {
    at++;
  }
  /** Whether the rest of the word equals that of the part. */
  const isRest = (wordAt: number, textAt: number) =>
    text.slice(textAt, to) === word.slice(wordAt);
  const here = from + at;
  switch (longer) {
    case 1:
      return isRest(at, here + 1);
    case -1:
      return isRest(at + 1, here);
    default:
      return (
        isRest(at + 1, here + 1) ||
        (word[at] === text[here + 1] &&
          word[at + 1] === text[here] &&
          isRest(at + 2, here + 2))
      );
  }
}
