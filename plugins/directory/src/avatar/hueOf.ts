/** How many colors there are in ColoredAvatar.module.css. */
const HUES = 8;

/** Picks a color by name, the same one everywhere and always (FNV-1a). */
export function hueOf(username: string): number {
  let hash = 0x811c9dc5;
  for (const character of username.toLowerCase()) {
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  }
  return (hash >>> 0) % HUES;
}
