/**
 * Upper-case letters beyond ASCII that 389 Directory Server 2.3 compares as
 * their lower-case letters, as tests with every character have shown. RFC 4518
 * §2.2 requires more.
 */
const CAPITAL_RANGES = [
  'c0-d6 d8-de 100-12e 132-136 139-147 14a-17d 181-18b 18f-198 19c-19d',
  '1a0-1a4 1a7-1a9 1ac-1b8 1bc 1cd-1db 1de-1ee 1f4 1fa-216 386-3ab 3e2-3ee',
  '401-40c 40e-42f 460-480 490-4be 4c1-4c3 4c7 4cb 4d0-4ea 4ee-4f4 4f8',
  '531-556 1e00-1e94 1ea0-1ef8 1f08-1f0f 1f18-1f1d 1f28-1f2f 1f38-1f3f',
  '1f48-1f4d 1f59-1f5f 1f68-1f6f 1f88-1f8f 1f98-1f9f 1fa8-1faf 1fb8-1fbc',
  '1fc8-1fcc 1fd8-1fdb 1fe8-1fec 1ff8-1ffc ff21-ff3a',
];

/**
 * Maps each upper-case letter that the directory folds to its lower-case
 * letter.
 */
export const lowerCaseLetters: ReadonlyMap<string, string> = new Map(
  ['41-5a', ...CAPITAL_RANGES.flatMap(ranges => ranges.split(' '))].flatMap(
    range => {
      const [first, last = first] = range
        .split('-')
        .map(end => parseInt(end, 16));
      return Array.from({ length: last - first + 1 }, (_, index) => {
        const capital = String.fromCodePoint(first + index);
        return [capital, capital.toLowerCase()] as const;
      });
    },
  ),
);

/** ASCII words separated by single spaces; nearly every value has this form. */
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Characters that 389 Directory Server treats as a space. */
const SPACE = '[\\t-\\r \\u2000-\\u200a\\u3000\\ufeff]';

const FURTHER_SPACES = new RegExp(`(?<=${SPACE})${SPACE}+`, 'g');

const SPACES_AT_ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

const CAPITALS = /[A-Z]|[^\0-\x7f]/gu;

/**
 * Returns a text in the form that 389 Directory Server compares: without case,
 * without spaces at the ends, and without repeated spaces.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) {
    return text.toLowerCase();
  }
  return text
    .replace(FURTHER_SPACES, '')
    .replace(CAPITALS, letter => lowerCaseLetters.get(letter) ?? letter)
    .replace(SPACES_AT_ENDS, '');
}
