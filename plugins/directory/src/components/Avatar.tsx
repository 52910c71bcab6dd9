import { Avatar } from '@backstage/ui';
import styles from './Avatar.module.css';

/**
 * The initials of a user on a color that depends on the user name. Decorative:
 * show the name beside it.
 */
export function ColoredAvatar(props: {
  /** Determines the color, so that it stays when the name changes. */
  username: string;

  /** Source of the initials. Defaults to the user name. */
  name?: string | null;

  /** 32, 40 or 88 pixels. Defaults to `large`, 40 pixels. */
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

/** Returns the color of a user name, always the same one (FNV-1a). */
export function hueOf(username: string): number {
  let hash = 0x811c9dc5;
  for (const character of username.toLowerCase()) {
    hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  }
  return (hash >>> 0) % HUES;
}

/** First letter or digit of a word. */
const INITIAL = /[\p{L}\p{N}]/u;

/**
 * Returns the initials of the first and the last word of a name, separated by a
 * space, as `Avatar` takes them. Words without letters and digits are skipped,
 * and so are letters of two code units, which `Avatar` would cut in half.
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
