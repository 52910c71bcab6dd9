/**
 * Sign-in page for users with Kerberos tickets.
 *
 * @packageDocumentation
 */
export { appModuleKerberosSignIn as default } from './module';
export { kerberosSignInTranslationRef } from './translation';
