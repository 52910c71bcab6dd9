/**
 * The directory gateway's pages: people and groups.
 *
 * @packageDocumentation
 */
export { directoryPlugin as default } from './plugin';
export { directoryApiRef, type DirectoryApi } from './api/directoryApiRef';
export { directoryTranslationRef } from './translation';
