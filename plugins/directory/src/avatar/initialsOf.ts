/** What a word is called by: its first letter or digit. */
const INITIAL = /[\p{L}\p{N}]/u;

/**
 * The initials of the first and the last word of a name, apart by a space, as
 * `Avatar` takes them. Words of nothing but signs and pictures do not count,
 * and rare letters of two code units neither: `Avatar` would cut them in half.
 */
export function initialsOf(name: string): string {
  const initials = name
    .split(/[\s._-]+/)
    .flatMap(word => word.match(INITIAL)?.[0] ?? [])
    .filter(letter => letter.length === 1);
  const ends =
    initials.length > 1
      ? [initials[0], initials[initials.length - 1]]
      : initials;
  return ends.join(' ');
}
