/** Letters that Unicode does not decompose into one without an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ł: 'l', ø: 'o', œ: 'oe' },
  ...{ ß: 'ss', þ: 'th', ŧ: 't' },
};

const ASCII = /^[\0-\x7f]*$/;
const NOT_DECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** The words of a text, without case, accents and punctuation. */
export function foldWords(text: string): readonly string[] {
  const folded = ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .toLowerCase()
        .replace(NOT_DECOMPOSED, letter => LETTERS[letter]);
  return folded.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
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
