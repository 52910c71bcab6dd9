/**
 * The directory gateway's own certificate authority.
 *
 * @packageDocumentation
 */
export { directoryModuleEmbeddedCa as default } from './module';
