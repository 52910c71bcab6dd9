/**
 * Auth provider for sign-in with Kerberos.
 *
 * @packageDocumentation
 */
export { authModuleKerberosProvider as default } from './module';
export { KERBEROS_PRINCIPAL_ANNOTATION } from './resolvers';
export type { AccountRefusalReason, SignInRefusalReason } from './Principal';
