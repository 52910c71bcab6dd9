/**
 * The directory gateway's pages: people and groups.
 *
 * @packageDocumentation
 */
export { directoryPlugin as default } from './plugin';
export { directoryApiRef, type DirectoryApi } from './api/directoryApi';
export { directoryTranslationRef } from './translation';
