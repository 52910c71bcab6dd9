/**
 * Pages of the directory gateway: people, groups and certificates.
 *
 * @packageDocumentation
 */
export { directoryPlugin as default } from './plugin';
export { directoryApiRef, type DirectoryApi } from './api/directoryApi';
export { directoryTranslationRef } from './translation';
