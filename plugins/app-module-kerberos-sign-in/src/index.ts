/**
 * Sign-in page for Kerberos tickets.
 *
 * @packageDocumentation
 */
export { appModuleKerberosSignIn as default } from './module';
export { kerberosSignInTranslationRef } from './translation';
