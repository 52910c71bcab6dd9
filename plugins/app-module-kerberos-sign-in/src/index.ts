/**
 * Sign-in with a Kerberos ticket, the page of it.
 *
 * @packageDocumentation
 */
export { appModuleKerberosSignIn as default } from './module';
export { kerberosSignInTranslationRef } from './translation';
