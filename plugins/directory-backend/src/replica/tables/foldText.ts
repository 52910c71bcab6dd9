import { smallLetters } from './smallLetters';

/** Plain words with single spaces between them: nearly every value. */
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** What 389 Directory Server takes for space, at the ends and in a row. */
const SPACE = '[\\t-\\r \\u2000-\\u200a\\u3000\\ufeff]';
const FURTHER_SPACES = new RegExp(`(?<=${SPACE})${SPACE}+`, 'g');
const SPACES_AT_ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');
const CAPITALS = /[A-Z]|[^\0-\x7f]/gu;

/**
 * A text in the form in which 389 Directory Server compares it: without regard
 * to case, of several spaces in a row the first, none at the ends.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) {
    return text.toLowerCase();
  }
  return text
    .replace(FURTHER_SPACES, '')
    .replace(CAPITALS, letter => smallLetters.get(letter) ?? letter)
    .replace(SPACES_AT_ENDS, '');
}
