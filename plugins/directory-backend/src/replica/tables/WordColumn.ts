import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import { areSimilar } from './areSimilar';
import { TextColumn } from './TextColumn';

/** Around each word. */
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
