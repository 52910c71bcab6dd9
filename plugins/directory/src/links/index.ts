export { SafeLink, type SafeLinkProps } from './SafeLink';
export { safeHref } from './safeHref';
