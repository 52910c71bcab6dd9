/**
 * Lets the directory gateway have certificates signed by FreeIPA.
 *
 * @packageDocumentation
 */
export { directoryModuleFreeIpaCa as default } from './module';
