import { Avatar } from '@backstage/ui';
import { hueOf } from '../avatar/hueOf';
import { initialsOf } from '../avatar/initialsOf';
import styles from './Avatar.module.css';

/** Options of {@link ColoredAvatar}. */
export interface ColoredAvatarProps {
  /** Decides the color, so that it stays when the name changes. */
  username: string;

  /** Gives the initials; without it the user name does. */
  name?: string | null;

  /** 32, 40 or 88 pixels. Defaults to the middle one. */
  size?: 'medium' | 'large' | 'portrait';
}

/**
 * Somebody's initials on a color of their own. Decoration: the name belongs
 * beside it.
 */
export function ColoredAvatar(props: ColoredAvatarProps) {
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
