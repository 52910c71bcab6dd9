export { RevokeButton } from './RevokeButton';
