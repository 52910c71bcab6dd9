/**
 * Directory gateway pages for people, groups and certificates.
 *
 * @packageDocumentation
 */
export { directoryPlugin as default } from './plugin';
export { directoryApiRef, type DirectoryApi } from './api/directoryApi';
export { LoadErrorNotice } from './loadError';
export { usePalette, type Palette } from './palette/palette';
export { directoryTranslationRef } from './translation';
