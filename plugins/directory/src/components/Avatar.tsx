import { Avatar } from '@backstage/ui';
import styles from './Avatar.module.css';

/**
 * The initials of a user on a background color derived from the user name.
 * Decorative: show the name next to it.
 *
 * Not `UserAvatar` of `@backstage/plugin-org`, which requires a catalog entity,
 * loads the picture from the URL in it, has neither these colors nor a size of
 * 88 pixels, and would load Material UI with that plugin.
 */
export function ColoredAvatar(props: {
  /**
   * User name. It determines the color, which therefore stays when the full
   * name changes.
   */
  username: string;

  /** Full name, for the initials. Defaults to the user name. */
  name?: string | null;

  /** Size: 32, 40 or 88 pixels. Defaults to `large`, 40 pixels. */
  size?: 'medium' | 'large' | 'portrait';
}) {
  const { username, name, size = 'large' } = props;
  return (
    <Avatar
      src=""
      name={initialsOf(name ?? '') || initialsOf(username)}
      purpose="decoration"
      size={size === 'medium' ? 'medium' : 'large'}
      className={`${styles.avatar} ${
        size === 'portrait' ? styles.portrait : ''
      }`}
      data-hue={hueOf(username)}
    />
  );
}

/** Number of colors in Avatar.module.css. */
const HUES = 8;

/** Returns the color index of a user name, from an FNV-1a hash. */
export function hueOf(username: string): number {
  let hash = 0x811c9dc5;
  for (const character of username.toLowerCase()) {
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  }
  return (hash >>> 0) % HUES;
}

/** The first letter or digit of a word. */
const INITIAL = /[\p{L}\p{N}]/u;

/**
 * Returns the initials of the first and last words of a name, separated by a
 * space, as `Avatar` expects. Skips words without letters and digits, and
 * characters of two code units, which `Avatar` would split.
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
