/**
 * Signs certificates of the directory gateway with step-ca.
 *
 * @packageDocumentation
 */
export { directoryModuleStepCa as default } from './module';
