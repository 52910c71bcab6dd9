/**
 * Signs certificates of the directory gateway with FreeIPA's CA.
 *
 * @packageDocumentation
 */
export { directoryModuleFreeIpaCa as default } from './module';
