export { ColoredAvatar, type ColoredAvatarProps } from './ColoredAvatar';
