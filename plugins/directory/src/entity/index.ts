export { CatalogLink, type CatalogLinkProps } from './CatalogLink';
