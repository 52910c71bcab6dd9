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
