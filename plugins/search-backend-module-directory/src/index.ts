/**
 * Updates the search index after the directory hides or deletes users.
 *
 * @packageDocumentation
 */
export { searchModuleDirectory as default } from './module';
