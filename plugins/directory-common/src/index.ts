/**
 * API of the directory gateway: the OpenAPI document, its types, a typed client
 * and the permissions.
 *
 * @packageDocumentation
 */
export { cleanText } from './cleanText';
export {
  createDirectoryClient,
  type DirectoryClientOptions,
  type FetchByUrl,
} from './createDirectoryClient';
export type {
  DirectoryClient,
  DirectoryMethod,
  DirectoryStream,
} from './DirectoryClient';
export {
  DirectoryResponseError,
  isDirectoryResponseError,
} from './DirectoryResponseError';
export type { ErrorBody } from './errorBodies';
export {
  DIRECTORY_ENTITY_LOCATION,
  entityNameOf,
  isGroupOfAllUsers,
} from './entityNameOf';
export { foldWords } from './foldWords';
export type { components, operations, paths } from './generated/openapi';
export * from './openApiDocument';
export { paginate, type FetchPage } from './paginate';
export * from './permissions';
export type * from './records';
