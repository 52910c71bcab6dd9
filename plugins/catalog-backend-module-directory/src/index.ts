/**
 * Entities for users and groups of the directory gateway.
 *
 * @packageDocumentation
 */
export {
  catalogModuleDirectory as default,
  directoryTransformsExtensionPoint,
} from './module';
export type {
  DirectoryGroup,
  DirectoryTransforms,
  DirectoryUser,
} from './entities';
