/** Letters that Unicode does not decompose into a base letter and an accent. */
const LETTERS = new Map(
  'æ ae, đ d, ð d, ħ h, ı i, ł l, ø o, œ oe, ß ss, þ th, ŧ t'
    .split(', ')
    .map(pair => pair.split(' ') as [string, string]),
);

const ASCII = /^[\0-\x7f]*$/;
const NOT_DECOMPOSED = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'g');

/**
 * Returns the words of a text as compared by the search parameter `q`: without
 * case, accents and punctuation.
 *
 * @public
 */
export function foldWords(text: string): readonly string[] {
  const folded = ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .toLowerCase()
        .replace(NOT_DECOMPOSED, letter => LETTERS.get(letter)!);
  return folded.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
