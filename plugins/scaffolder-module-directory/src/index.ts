/**
 * Scaffolder fields for users and groups in the directory.
 *
 * @packageDocumentation
 */
export { scaffolderModuleDirectory as default } from './module';
export { directoryPickerTranslationRef } from './translation';
