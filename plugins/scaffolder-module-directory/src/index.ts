/**
 * Fields for users and groups of the directory in the Scaffolder.
 *
 * @packageDocumentation
 */
export { scaffolderModuleDirectory as default } from './module';
export { directoryPickerTranslationRef } from './translation';
