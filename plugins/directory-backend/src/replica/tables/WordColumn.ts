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
        return this.#column.where((text, start, end) =>
          hasSimilar(word, { text, start, end }),
        );
    }
  }
}

/** Whether a part of a text has a word that is similar to another one. */
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
 * Whether a word differs from a part of a text by one letter at most: another
 * letter, one more or less, or two neighbors that are swapped.
 *
 * @param from - start of the part. Default: that of the text
 * @param to - end of the part. Default: that of the text
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
