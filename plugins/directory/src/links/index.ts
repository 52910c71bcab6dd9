export { SafeLink, type SafeLinkProps } from './SafeLink';
export { safeHref } from './safeHref';
export { LinkList, type LinkListProps, type ListedLink } from './LinkList';
