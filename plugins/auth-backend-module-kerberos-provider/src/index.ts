/**
 * Auth provider for sign-in with Kerberos.
 *
 * @packageDocumentation
 */
export { authModuleKerberosProvider as default } from './module';
export { authModuleDirectoryOwnership } from './ownershipModule';
export { KERBEROS_PRINCIPAL_ANNOTATION } from './resolvers';
export type { AccountRefusalReason, SignInRefusalReason } from './Principal';
