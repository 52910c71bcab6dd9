/**
 * The initials of the first and the last word of a name, apart by a space, as
 * `Avatar` takes them. A grapheme that takes several code points stays whole.
 */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return ends.map(word => Array.from(word)[0]).join(' ');
}
