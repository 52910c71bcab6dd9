import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import {
  allOf,
  anyOf,
  type FieldCondition,
  type Predicate,
} from './predicates';

/** Minimum length of a word that is searched within other words. */
const MIN_PART = 3;
/** Minimum length of a word that is compared with similar words. */
const MIN_SIMILAR = 4;
/** Maximum numbers of words, which bound the cost of a search. */
const MAX_WORDS = 8;
const MAX_SIMILAR_WORDS = 3;

/** Scripts in which one letter may be a name, and words have no spaces. */
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * Chinese, Japanese and Korean names of at least three letters: family name and
 * given name may be written without a space, in either order.
 */
const FULL_NAME = /^[\p{Script=Han}\p{Script=Hangul}]{3,}$/u;

/** Fields in which a text is searched. */
export interface TextFields<Field> {
  /** Fields whose words are compared with those of the text. */
  readonly words: readonly Field[];
  /**
   * Fields whose words are compared, too, but rank after those of `words`.
   * Default: none.
   */
  readonly moreWords?: readonly Field[];
  /** Fields that are compared with the whole text. */
  readonly whole: readonly Field[];
}

/**
 * Returns the predicates of a text search, the closest first: a value equals
 * the text; each word of the text begins a word of a field; each word of the
 * text is contained in a word of a field; the same with the fields that rank
 * later. Texts without a word of at least 3 letters only match as a whole,
 * except in Chinese, Japanese and Korean.
 */
export function closestFirst<Field>(
  text: string,
  { words: fields, moreWords = [], whole }: TextFields<Field>,
): readonly Predicate<FieldCondition<Field>>[] {
  const words = wordsOf(text);
  const tiersOf = (searched: readonly Field[]) => {
    const each = (kind: 'wordPrefix' | 'wordPart') =>
      allOf(...words.map(word => inAnyOf(searched, kind, word)));
    return [
      ...(words.some(isLong) ? [each('wordPrefix')] : []),
      ...(words.length > 0 && words.every(isLong) ? [each('wordPart')] : []),
    ];
  };
  return [
    anyOf(...whole.map(field => ({ kind: 'equals' as const, field, text }))),
    ...tiersOf(fields),
    ...(moreWords.length > 0 ? tiersOf([...fields, ...moreWords]) : []),
  ];
}

/**
 * Returns the predicate of a search for a text that may be misspelled: each of
 * its words differs from a word of a field by at most one letter or, if it is
 * short, begins one. Only the first three words are compared. Matches nothing
 * when all words are short.
 */
export function similarTo<Field>(
  text: string,
  fields: readonly Field[],
): Predicate<FieldCondition<Field>> {
  const words = wordsOf(text).slice(0, MAX_SIMILAR_WORDS);
  const isComparable = (word: string) => [...word].length >= MIN_SIMILAR;
  return words.some(isComparable)
    ? allOf(
        ...words.map(word =>
          inAnyOf(
            fields,
            isComparable(word) ? 'similarWord' : 'wordPrefix',
            word,
          ),
        ),
      )
    : anyOf();
}

function wordsOf(text: string): readonly string[] {
  return foldWords(text)
    .flatMap(word => (FULL_NAME.test(word) ? [...word] : [word]))
    .slice(0, MAX_WORDS);
}

function isLong(word: string): boolean {
  return [...word].length >= MIN_PART || CJK.test(word);
}

function inAnyOf<Field>(
  fields: readonly Field[],
  kind: 'wordPrefix' | 'wordPart' | 'similarWord',
  word: string,
): Predicate<FieldCondition<Field>> {
  return anyOf(...fields.map(field => ({ kind, field, word })));
}
