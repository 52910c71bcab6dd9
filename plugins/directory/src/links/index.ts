export { SafeLink, type SafeLinkProps } from './SafeLink';
export { hostOf, linkText, safeHref } from './safeHref';
export { LinkList, type LinkListProps, type ListedLink } from './LinkList';
