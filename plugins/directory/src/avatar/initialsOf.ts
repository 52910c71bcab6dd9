/** What a word is called by: a letter, a digit, or a picture. */
const INITIAL = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

/**
 * The initials of the first and the last word of a name, apart by a space, as
 * `Avatar` takes them. Words of nothing but signs do not count.
 */
export function initialsOf(name: string): string {
  const initials = name
    .split(/[\s._-]+/)
    .flatMap(word => word.match(INITIAL)?.[0] ?? []);
  const ends =
    initials.length > 1
      ? [initials[0], initials[initials.length - 1]]
      : initials;
  return ends.join(' ');
}
