/**
 * Sign-in with a Kerberos ticket, the server's side.
 *
 * @packageDocumentation
 */
export { authModuleKerberosProvider as default } from './module';
export { KERBEROS_PRINCIPAL_ANNOTATION } from './resolvers';
export type { SignInRefusalReason } from './Principal';
