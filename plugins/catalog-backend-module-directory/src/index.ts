/**
 * Entities for users and groups of the directory gateway.
 *
 * @packageDocumentation
 */
export { catalogModuleDirectory as default } from './module';
export type { DirectoryGroup, DirectoryUser } from './entities';
export {
  directoryTransformsExtensionPoint,
  type DirectoryTransforms,
} from './extensionPoint';
